"""The names of a comparison's methods, and what they stand for in `leanset.prune`."""

from collections.abc import Iterable, Sequence
from typing import Any

from leanset._errors import InputError
from leanset.scores import METHODS, Needs

FULL = "full"  # all examples, nothing removed
SHORTER = "shorter"  # all examples too, for as few passes as take the steps of what others keep: what pruning must beat
ON_ALL = (FULL, SHORTER)  # nothing is chosen
LEANSET, WEIGHTED, PAPER, UNIFORM = "leanset", "leanset-weights", "paper", "random"
BALANCED = "balanced"  # leanset without coverage
STRATIFIED, STRATIFIED_SHOWN = "stratified-random", "class-stratified random"  # the baseline, and its name for readers
_OWN: dict[str, dict[str, Any]] = {
    LEANSET: {},
    WEIGHTED: {"weights": True},
    BALANCED: {"coverage": "none"},
    PAPER: {"formulation": "paper"},
    UNIFORM: {"method": "random", "class_balance": "none"},
}
_ALWAYS_KNOWN = {"features", "errors", "influence_norm"}  # a head fitted on features has these


def prune_options(method: str) -> dict[str, Any]:
    """Return the options of `leanset.prune` that a method's name stands for.

    Examples
    --------
    >>> prune_options("el2n"), prune_options("leanset-weights")
    ({'method': 'el2n'}, {'weights': True})
    """
    return _OWN.get(method, {"method": method})


def shown_name(method: str) -> str:
    """Return a method's name for readers.

    Examples
    --------
    >>> shown_name("full"), shown_name("shorter"), shown_name("el2n")
    ('all data', 'all data, shorter', 'el2n')
    """
    return {FULL: "all data", SHORTER: "all data, shorter"}.get(method, method)


def about_leanset(verdicts: Iterable[str]) -> list[str]:
    """Return the sentences about leanset's own methods.

    Examples
    --------
    >>> about_leanset(["leanset is better than random", "el2n is worse than random"])
    ['leanset is better than random']
    """
    return [line for line in verdicts if LEANSET in line]


def on_features(recorded: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the methods that can choose from features; `recorded` names what else a network's training left.

    Examples
    --------
    >>> "el2n" in on_features(), "ccs" in on_features(), "ccs" in on_features(["dynamics"])
    (True, False, True)
    """
    known = _ALWAYS_KNOWN | set(recorded)
    own = (LEANSET, WEIGHTED, BALANCED, PAPER) if "dynamics" in known else (LEANSET, WEIGHTED, PAPER)
    return (*own, *(name for name, method in METHODS.items() if _is_met(method().all_needs(), known)))


def check_methods(methods: Sequence[str], possible: Sequence[str], why_not: str = "is not possible here") -> None:
    """Raise if a method is unknown, or known but not possible; the message names those that are."""
    for name in methods:
        if name not in possible:
            reason = why_not if name in METHODS or name in _OWN else "is unknown"
            reason = "is for images" if name == SHORTER else reason
            raise InputError(f"`methods`: {name!r} {reason}; choose from {', '.join(possible)}.")


def with_baseline(methods: Iterable[str]) -> tuple[str, ...]:
    """Return the methods without repeats, the baseline first.

    Examples
    --------
    >>> with_baseline(["el2n", "stratified-random", "el2n"])
    ('stratified-random', 'el2n')
    """
    return tuple(dict.fromkeys((STRATIFIED, *methods)))


def choice_name(method: str, fraction: float, seed: int) -> str:
    """Return the name for the files of what a method chose.

    Examples
    --------
    >>> choice_name("el2n", 0.4, 0)
    'el2n-0.4-s0'
    """
    short = f"{fraction:g}"
    exact = short if float(short) == fraction else repr(fraction)
    return f"{method}-{exact}-s{seed}"


def _is_met(needs: Needs, known: set[str]) -> bool:
    return all(known & set((need,) if isinstance(need, str) else need) for need in needs)
