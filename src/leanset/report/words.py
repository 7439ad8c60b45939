"""Numbers in plain words: "0.0006 lower", never "rises by −0.0006" or "+0.0000 (−0.0000 to +0.0000)"."""

import math

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few significant digits; very small and very large ones with a power of ten.

    Examples
    --------
    >>> number(0.09412), number(9.1e-11), number(0.0), number(35000.0), number(-2.5)
    ('0.0941', '9.1·10⁻¹¹', '0', '35,000', '−2.5')
    """
    if not math.isfinite(value):
        return "unknown"
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
        return text.replace("-", "−")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}·10{str(int(power)).translate(_SUPERSCRIPTS)}".replace("-", "−")


def change(value: float, digits: int = 4, unit: str = "") -> str:
    """Return a difference as an amount and a direction; one that rounds to zero is "the same".

    Examples
    --------
    >>> change(0.00331), change(-0.0006), change(-0.00001), change(-0.25, 2, " points")
    ('0.0033 higher', '0.0006 lower', 'the same', '0.25 points lower')
    """
    size = f"{abs(value):.{digits}f}"
    if float(size) == 0:
        return "the same"
    return f"{size}{unit} {'higher' if value > 0 else 'lower'}"


def between(low: float | None, high: float | None, digits: int = 4, unit: str = "") -> str:
    """Return a 95 % interval of a difference in words; "" if there is none.

    Examples
    --------
    >>> between(0.0021, 0.0045), between(-0.0006, 0.0004), between(-0.00001, 0.00002), between(-0.2, -0.1, 1)
    ('0.0021 to 0.0045 higher', '0.0006 lower to 0.0004 higher', 'less than 0.0001 either way', '0.1 to 0.2 lower')
    >>> between(0.0, 0.0045)
    'the same to 0.0045 higher'
    """
    if low is None or high is None:
        return ""
    ends = [f"{abs(end):.{digits}f}" for end in (low, high)]
    if all(float(end) == 0 for end in ends):
        return f"less than {10**-digits:.{digits}f}{unit} either way"
    if any(float(end) == 0 for end in ends) or low < 0 < high:
        return f"{change(low, digits, unit)} to {change(high, digits, unit)}"
    near, far = (ends[0], ends[1]) if low > 0 else (ends[1], ends[0])
    return f"{near} to {far}{unit} {'higher' if low > 0 else 'lower'}"


def share(part: float) -> str:
    """Return a share in percent; only all is 100 %, only none is 0 %.

    Examples
    --------
    >>> share(0.25), share(0.99996), share(1.0), share(0.0), share(0.00001)
    ('25.0 %', 'over 99.99 %', '100 %', '0 %', 'under 0.01 %')
    """
    if part in (0.0, 1.0):
        return f"{100 * part:.0f} %"
    if part > 0.9999:
        return "over 99.99 %"
    if part < 0.0001:
        return "under 0.01 %"
    return f"{100 * part:.{2 if part > 0.99 or part < 0.01 else 1}f} %"


def count(number_of: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1200, "class", "classes")
    ('1 row', '1,200 classes')
    """
    return f"{number_of:,} {singular if number_of == 1 else plural or singular + 's'}"


def size(number_of_bytes: int) -> str:
    """Return a file size.

    Examples
    --------
    >>> size(10_000_000), size(430_000), size(12)
    ('10.0 MB', '430 kB', '12 bytes')
    """
    if number_of_bytes >= 1_000_000:
        return f"{number_of_bytes / 1e6:.1f} MB"
    return f"{number_of_bytes / 1e3:.0f} kB" if number_of_bytes >= 1000 else f"{number_of_bytes} bytes"
