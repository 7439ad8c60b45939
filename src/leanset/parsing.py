"""Convert the text of command-line options to values."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset._files import open_regular
from leanset._folder import rows_in


def named(option: str, table: Mapping[str, type[Any]]) -> Callable[[str], Any]:
    """Return a reader of names, each of which stands for a class with default options."""

    def read(name: str) -> Any:
        if name not in table:
            raise InputError(f"`{option}={name!r}` is unknown; choose from {', '.join(sorted(table))}.")
        return table[name]()

    return read


def balance_in(text: str) -> str | int:
    """Read a class balance: a word, or a whole number.

    Examples
    --------
    >>> balance_in("none"), balance_in("30")
    ('none', 30)
    """
    return int(text) if re.fullmatch(r"\d{1,18}", text) else text


def share_or_number_in(text: str) -> float | int:
    """Read a whole number as such, and any other as a share.

    Examples
    --------
    >>> share_or_number_in("0.2"), share_or_number_in("300")
    (0.2, 300)
    """
    if re.fullmatch(r"\d{1,18}", text):
        return int(text)
    [number, *_] = numbers_in(text, "keep") or (float("nan"),)
    return number


def numbers_in(text: str, option: str) -> tuple[float, ...]:
    """Read comma-separated numbers; an error names `option`.

    Examples
    --------
    >>> numbers_in("0.5, 1", "mean")
    (0.5, 1.0)
    """
    try:
        return tuple(float(part) for part in words_in(text))
    except ValueError:
        raise InputError(f"`{option}={text!r}` must be comma-separated numbers.") from None


def words_in(text: str) -> tuple[str, ...]:
    """Split a comma-separated list.

    Examples
    --------
    >>> words_in("el2n, ccs,")
    ('el2n', 'ccs')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())


def bytes_in(text: str, option: str = "memory") -> int:
    """Read a size such as 512MiB, 2GB or 1000000; an error names `option`.

    Examples
    --------
    >>> bytes_in("2GiB"), bytes_in("500 MB"), bytes_in("1024")
    (2147483648, 500000000, 1024)
    """
    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*([KMGT]?i?B?)\s*", text, re.IGNORECASE)
    if not match:
        raise InputError(f"`{option}={text!r}` must be a size such as 512MiB, 2GB or 1000000.")
    unit = match[2].upper().rstrip("B")
    base = 1024 if unit.endswith("I") else 1000
    return int(float(match[1]) * base ** "KMGT".find(unit[:1] or "?") * base if unit else float(match[1]))


def rows_in_file(option: str) -> Callable[[str], Rows]:
    """Return a reader of text files with one row number per line."""

    def read(path: str) -> Rows:
        try:
            with open_regular(path) as file:
                return rows_in(file.read().decode())
        except OSError as error:
            raise InputError(f"`{option}={path}`: cannot be read: {error.strerror}.") from None
        except (ValueError, OverflowError):
            raise InputError(f"`{option}={path}`: must contain one row number per line.") from None

    return read
