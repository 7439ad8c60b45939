"""What kind of value a file of a run folder must have under a name, so that a damaged one is named and not computed with."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from leanset._errors import RunFolderError

_MOST = 2**63  # whole numbers beyond are no row numbers, counts or seeds


@dataclass(frozen=True)
class Kind:
    """A kind of JSON value: how it is said, and whether a value fits."""

    said: str
    fits: Callable[[Any], bool]


def optional(kind: Kind) -> Kind:
    """Return the kind that also allows null."""
    return Kind(f"{kind.said} or null", lambda value: value is None or kind.fits(value))


def list_of(kind: Kind, said: str, count: int | None = None) -> Kind:
    """Return the kind of lists of a kind, of a length if one is given."""
    return Kind(
        said, lambda value: isinstance(value, list) and count in (None, len(value)) and all(map(kind.fits, value))
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


TEXT = Kind("text", lambda value: isinstance(value, str))
WHOLE = Kind("a whole number of at least 0", _is_whole)
NUMBER = Kind("a finite number", _is_number)
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
NAMED = Kind("an object", lambda value: isinstance(value, dict))
TEXTS = list_of(TEXT, "a list of texts")
ROWS = list_of(WHOLE, "a list of row numbers")
_BY_TYPE = {
    str: TEXT,
    int: WHOLE,
    float: NUMBER,
    bool: TRUTH,
    float | None: optional(NUMBER),
    dict[str, Any]: NAMED,
    tuple[str, ...]: TEXTS,
}


def kinds_of(record: type[Any]) -> dict[str, Kind]:
    """Return the kinds of a dataclass's fields, by their types; fields of other types are left out.

    Examples
    --------
    >>> @dataclass
    ... class Point:
    ...     place: int
    ...     height: float | None
    >>> {name: kind.said for name, kind in kinds_of(Point).items()}
    {'place': 'a whole number of at least 0', 'height': 'a finite number or null'}
    """
    return {field.name: _BY_TYPE[field.type] for field in fields(record) if field.type in _BY_TYPE}  # type: ignore[index]


def check_kinds(values: Mapping[str, Any], kinds: Mapping[str, Kind], where: str) -> None:
    """Raise if a value is not of its kind; values that are missing are passed over.

    Examples
    --------
    >>> check_kinds({"n": None}, {"n": WHOLE}, "certificate.json")
    Traceback (most recent call last):
    ...
    leanset._errors.RunFolderError: certificate.json: `n` must be a whole number of at least 0; it is None.
    """
    for name, kind in kinds.items():
        if name in values and not kind.fits(values[name]):
            raise RunFolderError(f"{where}: `{name}` must be {kind.said}; it is {values[name]!r:.60}.")
