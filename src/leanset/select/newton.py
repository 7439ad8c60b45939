"""leanset's own strategy: centred influences, the Hessian of the kept examples, every step measured.

With coverage, the search starts from a set that covers all difficulties and exchanges rows only within class and stratum.
Without it, two sets are measured first. One is annealed from a random start, with the Hessian of all examples. The other
consists of the examples with the shortest influence vectors; it is better if few examples carry the curvature (small or
nearly separable data). The better set is then improved in rounds. Each round recomputes the influences at the head
*refitted on the kept examples*, with the Hessian of the kept examples. So near the current set the objective is the true
change of the head up to second order. The round anneals, refits, and keeps the new set only if the measured change is
smaller. After a round that fails, the next one leaves out the examples with the longest influence vectors, whose exchange
changes the curvature most.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from leanset._arrays import Mask, Rows, Vector, quantile_bins
from leanset._progress import part_of
from leanset._rng import stream
from leanset.certify import Finding
from leanset.head import refit
from leanset.influence import ROWS_PER_COORDINATE, influence_map
from leanset.problem import Outcome, Removal
from leanset.scores import AUM, Needs, confident_disagreement
from leanset.select.coverage import Coverage
from leanset.select.exchange import ExchangeSearch, improved
from leanset.select.strategy import Search, Strategy
from leanset.select.task import Task
from leanset.solve import AdaptiveAnnealing, Progress, Solver

_FIRST_WEIGHT = 3  # the first annealing gets the effort of three later rounds, which start close to their result
_CONVERGED = 0.01  # rounds stop when the measured change varies by less than this share


@dataclass(frozen=True)
class Newton(Strategy):
    """Search in rounds for the set whose removal changes the head least.

    Attributes
    ----------
    coverage : which difficulties must stay, or None
    solver : how each round searches
    """

    coverage: Coverage | None = None
    solver: Solver = AdaptiveAnnealing()  # noqa: RUF009  # frozen
    formulation: ClassVar[str] = "newton"

    @property
    def needs(self) -> Needs:
        """Training dynamics, if difficulties are to be covered."""
        return () if self.coverage is None else AUM().all_needs()

    def movable(self, n: int, width: int) -> int:
        """Return how many rows are needed to balance every coordinate, including the imbalance of the fixed rows.

        The imbalance of the fixed rows grows with √n and must be compensated by the movable rows. Measured on a mixture
        of 1,000,000 examples: 5.6 times below random with 16,384 movable rows, 260 times with 65,536.
        """
        return max(16384, ROWS_PER_COORDINATE * width, n // 16)

    def with_solver(self, solver: Solver) -> Strategy:
        """Return the strategy with another solver."""
        return replace(self, solver=solver)

    def begin(self, task: Task) -> Search:
        """Return the search for a task."""
        return NewtonSearch(task, self, self.coverage)


@dataclass(frozen=True)
class NewtonSearch(ExchangeSearch):
    """The strategy applied to one task."""

    coverage: Coverage | None

    def best(self, count: int, share: float, progress: Progress) -> Removal:
        """Measure the starting sets and improve the better one, round by round."""
        rounds = 5 if share > 0.2 else 2
        later = self.solver.with_effort(share / (_FIRST_WEIGHT + rounds))
        best, cells = self._first(count, later.with_effort(_FIRST_WEIGHT), part_of(progress, 0, rounds + 1))
        reach = 1.0
        for nth in range(1, rounds + 1):
            trial = self._round(best, cells, reach, later, self._seed(count, nth), part_of(progress, nth, rounds + 1))
            ratio = trial.refitted.change / max(best.refitted.change, np.finfo(np.float64).tiny)
            best = _better(best, trial)
            if abs(ratio - 1) < _CONVERGED:
                break
            if ratio > 1:
                reach -= 0.1  # leave out the rows with the longest vectors, which change the curvature most
        return best

    def findings(self, removal: Removal) -> list[Finding]:
        """State how many labels are suspect, if examples were removed for it."""
        doubted = 0.0 if self.coverage is None else self.coverage.doubted(self.suspect)
        if doubted <= 0:
            return []
        return [
            Finding(
                "LS107",
                f"{self.suspect:.0%} of the labels are suspect: the network confidently predicts another class. The hardest "
                f"{doubted:.0%} of each class (or as many as the budget allows) were removed first, regardless of the head.",
            )
        ]

    def _first(self, count: int, solver: Solver, progress: Progress) -> tuple[Removal, Rows | None]:
        start, cells = self._start(count)
        best = self._refitted(self.exchanged(start, solver, self._seed(count, 0), progress, cells))
        if cells is None:
            free = self.task.constraints.free
            quietest = self.task.constraints.first_allowed(free[np.argsort(self.norms[free], kind="stable")], count)
            best = _better(best, self._refitted(Removal(quietest, Outcome.quietest)))
        return best, cells

    def _round(
        self, anchor: Removal, cells: Rows | None, reach: float, solver: Solver, seed: int, progress: Progress
    ) -> Removal:
        task, removed, theta = self.task, anchor.removed, anchor.refitted.theta
        influence = influence_map(
            task.head.moved_to(theta),
            task.inverses.steering,
            centred=self.strategy.centred(task.head.penalty),
            weights=anchor.weights,
        )
        rows = self.movable
        if reach < 1.0:
            rows = rows[self.norms[rows] <= np.quantile(self.norms[rows], reach)]
        moved = influence.coordinates(theta - task.head.theta)
        problem = self.problem(influence, rows, removed, moved, cells)
        return self._refitted(improved(problem, rows, removed, solver, seed, progress))

    def _start(self, count: int) -> tuple[Mask, Rows | None]:
        """Return the set to start from and, if difficulties are to be covered, the cells for exchanges."""
        if self.coverage is None:
            return self.start(count), None
        rng = stream(self.task.seed, "start", count)
        removed, cells = self.coverage.start(self._difficulty, self.task.constraints, count, rng, self.suspect)
        return removed, quantile_bins(self.norms, cells, self.coverage.weights)

    @cached_property
    def _difficulty(self) -> Vector:
        return AUM().difficulty(self.task.recorded)

    @cached_property
    def suspect(self) -> float:
        """Share of the examples with whose label the network, or the head, confidently disagrees."""
        disputed = confident_disagreement(self.task.predicted, self.task.head.design.targets)
        return float(disputed.mean())

    def _refitted(self, removal: Removal) -> Removal:
        task = self.task
        return replace(removal, refit=refit(task.head, removal.weights, task.inverses.precondition))

    def _seed(self, count: int, nth: int) -> int:
        return int(stream(self.task.seed, "search", count, nth).integers(2**31))


def _better(one: Removal, other: Removal) -> Removal:
    return min(one, other, key=lambda found: found.refitted.change)
