import math

from leanset._errors import InputError
from leanset.evaluate.statistics import Comparison, Interval


def verdict(method: str, baseline: str, fraction: float, comparison: Comparison, significance: float = 0.05) -> str:
    """Say in one sentence how a method compares with another, in percentage points.

    A method is better or worse if the interval of the difference excludes 0; for a plain paired t test this means
    p < `significance`. If the p value of `comparison` is adjusted for multiple comparisons, it must be below
    `significance` too. The sentence says so if the two disagree.

    Parameters
    ----------
    method, baseline : names of the two methods
    fraction : share of the training data that was removed
    comparison : of accuracies in 0..1, method minus baseline, with an interval of level 1 - `significance`
    significance : chance of reporting a difference where there is none

    Examples
    --------
    >>> print(verdict("leanset", "random", 0.4, Comparison(Interval(0.012, 0.007, 0.017, 5), 0.002)))
    leanset is better than random at 40 % removed: +1.2 points, 95 % interval 0.7 to 1.7 (5 seeds).
    >>> print(verdict("EL2N", "random", 0.4, Comparison(Interval(0.001, -0.004, 0.006, 5), 0.6)))
    no difference seen between EL2N and random at 40 % removed: +0.1 points, 95 % interval −0.4 to 0.6 (5 seeds).
    >>> print(verdict("EL2N", "random", 0.4, Comparison(Interval(-0.008, math.nan, math.nan, 1), math.nan)))
    EL2N against random at 40 % removed: −0.8 points, one seed: no interval.
    """
    difference = comparison.difference
    if not math.isclose(difference.level, 1 - significance, abs_tol=1e-9):
        raise InputError(
            f"`verdict(significance={significance})` needs an interval of level {1 - significance:g}; "
            f"got one of level {difference.level:g}."
        )
    at = f"at {100 * fraction:.4g} % removed"
    digits = _digits(difference)
    size = f"{_signed(difference.mean, digits)} points"
    if difference.n < 2:
        return f"{method} against {baseline} {at}: {size}, one seed: no interval."
    outside = difference.low > 0 or difference.high < 0
    if outside and comparison.p_value < significance:
        finding = f"{method} is {'better' if difference.low > 0 else 'worse'} than {baseline}"
    else:
        finding = f"no difference seen between {method} and {baseline}"
    low, high = _number(difference.low, digits), _number(difference.high, digits)
    evidence = f"{size}, {100 * difference.level:.4g} % interval {low} to {high} ({difference.n} seeds)"
    if outside and not comparison.p_value < significance:
        evidence += f", but p = {comparison.p_value:.2g} among all comparisons"
    return f"{finding} {at}: {evidence}."


def _digits(difference: Interval) -> int:
    """Return enough decimals, at most 3, to show on which side of 0 the ends of the interval lie."""
    ends = [100 * abs(end) for end in (difference.low, difference.high) if math.isfinite(end) and end != 0]
    return next((digits for digits in (1, 2, 3) if all(round(end, digits) > 0 for end in ends)), 3)


def _number(value: float, digits: int) -> str:
    points = round(100 * value, digits) + 0.0  # no minus sign before a 0
    return f"{points:.{digits}f}".replace("-", "−")


def _signed(value: float, digits: int) -> str:
    text = _number(value, digits)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"
