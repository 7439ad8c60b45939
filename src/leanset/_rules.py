"""Rules for option values: each returns what a value must be, or None if the value is valid."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Rule = Callable[[Any], str | None]


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    numeric = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return numeric and math.isfinite(value)


def is_whole(value: Any) -> bool:
    """Return whether a value has an integer type."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def a_share(value: Any) -> str | None:
    """Rule: a number between 0 and 1, both excluded."""
    if not is_number(value):
        return "be a finite number"
    return None if 0 < value < 1 else "lie in (0, 1)"


def a_share_or_number(value: Any) -> str | None:
    """Rule: a number between 0 and 1, both excluded, or a whole number of integer type: 1.0 could mean either."""
    fine = value >= 1 if is_whole(value) else a_share(value) is None
    return None if fine else "be a share in (0, 1), or a whole number of at least 1"


def shares(value: Any) -> str | None:
    """Rule: one or more numbers between 0 and 1, both excluded."""
    listed = isinstance(value, tuple | list) and len(value) > 0 and not any(map(a_share, value))
    return None if listed else "be one or more numbers in (0, 1)"


def positive(reason: str = "") -> Rule:
    """Rule: a finite number above 0."""

    def rule(value: Any) -> str | None:
        if is_number(value) and value > 0:
            return None
        return f"be positive{reason}" if is_number(value) else "be a finite number"

    return rule


def not_negative(value: Any) -> str | None:
    """Rule: a finite number of at least 0."""
    return None if is_number(value) and value >= 0 else "be a number of at least 0"


def at_least(least: int, reason: str = "") -> Rule:
    """Rule: a whole number of at least `least`."""

    def rule(value: Any) -> str | None:
        if not is_whole(value):
            return f"be a whole number of at least {least}"
        return None if value >= least else f"be at least {least}{reason}"

    return rule


def a_seed(value: Any) -> str | None:
    """Rule: a whole number of at least 0."""
    return None if is_whole(value) and value >= 0 else "be a whole number of at least 0"


def a_count(value: Any) -> str | None:
    """Rule: a whole number of at least 1, of any numeric type."""
    if not is_number(value):
        return "be a finite number"
    return None if value == int(value) and value >= 1 else "be a whole number of at least 1"


def a_text(value: Any) -> str | None:
    """Rule: a string."""
    return None if isinstance(value, str) else "be a name"


def names(value: Any) -> str | None:
    """Rule: a list of strings."""
    listed = isinstance(value, tuple | list) and all(isinstance(name, str) for name in value)
    return None if listed else "be a list of names"


def numbers(above: float | None = None) -> Rule:
    """Rule: one finite number per channel, larger than a limit if there is one."""

    def rule(value: Any) -> str | None:
        listed = isinstance(value, tuple | list) and len(value) > 0 and all(map(is_number, value))
        if not listed:
            return "be a list of finite numbers, one per channel"
        return None if above is None or min(value) > above else f"be larger than {above:g} in every channel"

    return rule


def one_of(*choices: str) -> Rule:
    """Rule: one of the given words."""
    words = [repr(choice) for choice in choices]
    listed = f"{', '.join(words[:-1])} or {words[-1]}"
    return lambda value: None if isinstance(value, str) and value in choices else f"be {listed}"


def an_instance(kind: type[Any], example: str) -> Rule:
    """Rule: an instance of a class."""
    return lambda value: None if isinstance(value, kind) else f"be an instance such as `{example}`, or None"


def yes_or_no(value: Any) -> str | None:
    """Rule: True or False."""
    return None if isinstance(value, bool | np.bool_) else "be True or False"
