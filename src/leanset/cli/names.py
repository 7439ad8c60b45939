"""The only place where algorithms are known by name: the command line's tables."""

import re
from dataclasses import replace

from leanset import (
    AdaptiveAnnealing,
    Cholesky,
    ConjugateGradients,
    Exhaustive,
    InputError,
    Kronecker,
    LiSSA,
    SimulatedAnnealing,
)
from leanset.influence import Inverse
from leanset.scores import Method, Score, method_named
from leanset.solve import Solver

INVERSES: dict[str, type[Inverse]] = {
    "cholesky": Cholesky,
    "cg": ConjugateGradients,
    "lissa": LiSSA,
    "kronecker": Kronecker,
}
SOLVERS: dict[str, type[Solver]] = {
    "adaptive": AdaptiveAnnealing,
    "annealing": SimulatedAnnealing,
    "exhaustive": Exhaustive,
}


def inverse_named(name: str | None) -> Inverse | None:
    """Return the inverse of that name with its default settings; None for None."""
    return None if name is None else INVERSES[_known("--inverse", name, INVERSES)]()


def solver_named(name: str | None, seconds: float | None, proposals: int | None, formulation: str) -> Solver | None:
    """Return the solver of that name with the given effort; None if nothing was said."""
    if name is None and seconds is None and proposals is None:
        return None
    kind = SOLVERS[_known("--solver", name or ("annealing" if formulation == "paper" else "adaptive"), SOLVERS)]
    given = {key: value for key, value in (("seconds", seconds), ("proposals", proposals)) if value is not None}
    if kind is Exhaustive and given:
        raise InputError("`--solver exhaustive` visits every set; it takes neither --seconds nor --proposals.")
    return kind(**given)


def method_from(name: str, remove: str | None) -> Method | None:
    """Return the method of that name, with the end to remove if one was said; None for leanset's own."""
    method = None if name == "leanset" else method_named(name)
    if remove is None:
        return method
    if method is None or not isinstance(method, Score):
        raise InputError(f"--remove {remove}: {name} has no scale of which one end goes.")
    return replace(method, remove=remove)  # type: ignore[type-var]


def refuse(what: str, **given: object) -> None:
    """Raise if options were given that have no meaning for something."""
    for name, value in given.items():
        if value is not None:
            option = name.replace("_", "-")
            said = (
                {True: f"--{option}", False: f"--no-{option}"}[value]
                if isinstance(value, bool)
                else f"--{option} {value}"
            )
            raise InputError(f"{said}: has no meaning for {what}.")


def balance_from(text: str | None) -> str | int | None:
    """Read `--class-balance`: proportional, none, or a whole number."""
    return int(text) if text is not None and re.fullmatch(r"\d+", text) else text


def bytes_from(text: str) -> int:
    """Read a size such as 512MiB, 2GB or 1000000.

    Examples
    --------
    >>> bytes_from("2GiB"), bytes_from("500 MB"), bytes_from("1024")
    (2147483648, 500000000, 1024)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", text, re.IGNORECASE)
    if not match:
        raise InputError(f"--memory {text!r} must be a size such as 512MiB, 2GB or 1000000.")
    unit = match[2].upper().rstrip("B")
    base = 1024 if unit.endswith("I") else 1000
    return int(float(match[1]) * base ** "KMGT".find(unit[:1] or "?") * base if unit else float(match[1]))


def _known(option: str, name: str, table: dict[str, type[Inverse]] | dict[str, type[Solver]]) -> str:
    if name not in table:
        raise InputError(f"{option} {name!r} is unknown; choose from {', '.join(sorted(table))}.")
    return name
