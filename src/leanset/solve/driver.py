import abc
import math
import time
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import ClassVar

from leanset._errors import InputError, LeansetError
from leanset.problem import BestSetProblem, LargestSetProblem, Removal

Progress = Callable[[float], None]  # called with the completed share of the work


class Solver(abc.ABC):
    """How to search for the best set. An instance contains only settings; state is passed, never stored."""

    finds_largest: ClassVar[bool] = False  # whether it can also solve the paper's problem (a)

    @abc.abstractmethod
    def search(self, problem: BestSetProblem, seed: int, progress: Progress) -> Removal:
        """Search from the problem's starting set."""

    def expected_seconds(self, rows: int, width: int, seconds_per_move: float) -> float:
        """Return the approximate time of a search over `rows` vectors of `width` coordinates; 0 if unknown."""
        return 0.0

    def with_effort(self, share: float) -> "Solver":
        """Return a solver with about `share` times the effort of this one; itself if its effort is fixed."""
        return self

    def limited(self, **limits: float) -> "Solver":
        """Return this solver with other limits (`seconds`, `proposals`), if it has such settings."""
        known: list[str] = [item.name for item in fields(self)] if is_dataclass(self) else []
        for name, value in limits.items():
            if name not in known:
                raise InputError(f"`{name}={value}` does not apply to `solver={self!r}`.")
        return replace(self, **limits)  # type: ignore[type-var]

    @property
    def depends_on_speed(self) -> bool:
        """Whether the result depends on the speed of the machine."""
        return False

    def largest(self, problem: LargestSetProblem, seed: int, progress: Progress) -> Removal:
        """Search for the largest set within a bound; requires `finds_largest`."""
        raise InputError(f"`{self!r}` cannot search for the largest set; use `SimulatedAnnealing(...)`.")


def check_positive(name: str, **settings: float | None) -> None:
    """Raise if a given setting is not positive and finite."""
    for field, value in settings.items():
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"`{name}({field}={value})` must be positive and finite.")


def no_progress(done: float) -> None:
    """Ignore progress."""


def solve(problem: BestSetProblem, solver: Solver, *, seed: int = 0, progress: Progress = no_progress) -> Removal:
    """Run a solver and check its answer against the problem.

    The result is never worse than the starting set.

    Examples
    --------
    >>> import numpy as np
    >>> from leanset.solve import Exhaustive
    >>> problem = BestSetProblem(np.float32([[3], [1], [-1]]), np.zeros(3, int), np.array([True, True, False]))
    >>> solve(problem, Exhaustive()).norm
    0.0
    """
    began = time.perf_counter()
    attempt = solver.search(problem, seed, progress)
    if not problem.feasible(attempt.removed):
        raise LeansetError(
            f"{solver} returned a set that breaks the problem's constraints; this is a bug in the solver."
        )
    start_norm, norm = problem.norm(problem.removed), problem.norm(attempt.removed)
    return replace(
        attempt,
        removed=attempt.removed if norm <= start_norm else problem.removed,
        norm=min(norm, start_norm),
        start_norm=start_norm,
        seconds=time.perf_counter() - began,
    )
