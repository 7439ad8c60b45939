import abc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from leanset._arrays import Mask
from leanset._errors import InputError, LeansetError
from leanset.problem import Outcome, PruneProblem, Selection

Progress = Callable[[float], None]  # called with the share of the work that is done


@dataclass(frozen=True)
class Attempt:
    """What a solver hands to the driver."""

    removed: Mask
    outcome: Outcome
    proposals: int


class Solver(abc.ABC):
    """How to search for the best set. An instance is its settings; state is passed, never stored."""

    @abc.abstractmethod
    def search(self, problem: PruneProblem, seed: int, progress: Progress) -> Attempt:
        """Search from the problem's starting set."""

    def expected_seconds(self, rows: int, seconds_per_move: float) -> float:
        """Return about how long a search over so many rows takes; 0 if that cannot be said."""
        return 0.0

    def lighter(self, share: float) -> "Solver":
        """Return a solver that spends about `share` of this one's effort; itself if it has no such knob."""
        return self


def check_positive(name: str, **settings: float | None) -> None:
    """Reject settings that are given and not positive and finite."""
    for field, value in settings.items():
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"`{name}({field}={value})` must be positive and finite.")


def no_progress(done: float) -> None:
    """Report to nobody."""


def solve(problem: PruneProblem, solver: Solver, *, seed: int = 0, progress: Progress = no_progress) -> Selection:
    """Run a solver and check its answer against the problem's own statement.

    The answer is never worse than the starting set.

    Examples
    --------
    >>> import numpy as np
    >>> from leanset.solve import Exhaustive
    >>> problem = PruneProblem(np.float32([[3], [1], [-1]]), np.zeros(3, int), np.array([True, True, False]))
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
    removed = attempt.removed if norm <= start_norm else problem.removed
    seconds = time.perf_counter() - began
    return Selection(removed, min(norm, start_norm), start_norm, attempt.outcome, attempt.proposals, seconds)
