import abc
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from leanset._errors import InputError, LeansetError
from leanset.problem import BestSetProblem, LargestSetProblem, Removal

Progress = Callable[[float], None]  # called with the share of the work that is done


class Solver(abc.ABC):
    """How to search for the best set. An instance is its settings; state is passed, never stored."""

    finds_largest: ClassVar[bool] = False  # whether it can also solve the paper's problem (a)

    @abc.abstractmethod
    def search(self, problem: BestSetProblem, seed: int, progress: Progress) -> Removal:
        """Search from the problem's starting set."""

    def expected_seconds(self, rows: int, seconds_per_move: float) -> float:
        """Return about how long a search over so many rows takes; 0 if that cannot be said."""
        return 0.0

    def with_effort(self, share: float) -> "Solver":
        """Return a solver that spends about `share` times this one's effort; itself if it has no such knob."""
        return self

    @property
    def depends_on_speed(self) -> bool:
        """Whether the answer depends on how fast the machine is."""
        return False

    def largest(self, problem: LargestSetProblem, seed: int, progress: Progress) -> Removal:
        """Search for the largest set within a bound; only where `finds_largest`."""
        raise InputError(f"`{self!r}` cannot search for the largest set; use `SimulatedAnnealing(...)`.")


def check_positive(name: str, **settings: float | None) -> None:
    """Reject settings that are given and not positive and finite."""
    for field, value in settings.items():
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"`{name}({field}={value})` must be positive and finite.")


def no_progress(done: float) -> None:
    """Report to nobody."""


def solve(problem: BestSetProblem, solver: Solver, *, seed: int = 0, progress: Progress = no_progress) -> Removal:
    """Run a solver and check its answer against the problem's own statement.

    The answer is never worse than the starting set.

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
