"""leanset's own strategy: the Hessian of the kept examples, every step measured.

With coverage, the search starts from a set that covers all difficulties and exchanges rows only within class and stratum.
Without it, three sets are measured first. One is random. One is annealed from it, with the Hessian of all examples. One
removes the examples with the shortest influence vectors; it is best if many examples are fitted so well that they carry
nothing, and a disaster if many cannot be fitted. The best set is then improved in rounds. Each round recomputes the
influences at the head *refitted on the kept examples*, with the Hessian of the kept examples. So near the current set the
objective is the true one up to second order. The round anneals, refits, and keeps the new set only if the measured harm is
smaller. After a round that fails, the next one leaves out the examples with the longest influence vectors, whose exchange
changes the curvature most. So the result is never worse than any of its starts.

Harm is ‖Δθ‖, or the rise of the loss where too few examples are kept to hold the head in place (see `aim`). A result that
is not far better than the random set is compared with it on held-out rows; if the random set does better there, beyond
chance, it is the answer.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from leanset._arrays import Mask, Rows, quantile_bins
from leanset._progress import part_of
from leanset._rng import stream
from leanset.certify import Finding, about_few_epochs, about_the_network
from leanset.head import refit
from leanset.influence import ROWS_PER_COORDINATE, InfluenceMap, influence_map
from leanset.problem import Outcome, Removal
from leanset.scores import AUM, Needs, confident_disagreement
from leanset.select.aim import Aim, aim_for, loss_rise
from leanset.select.budget import Budget
from leanset.select.coverage import Coverage, LearningRecord
from leanset.select.exchange import ExchangeSearch, improved
from leanset.select.held_out import does_better
from leanset.select.strategy import Search, Strategy
from leanset.select.task import Task
from leanset.solve import AdaptiveAnnealing, Progress, Solver

_FIRST_WEIGHT = 3  # the first annealing gets the effort of three later rounds, which start close to their result
_USUAL_ROUNDS = 0.6  # of the most rounds; they stop early where the harm no longer changes
_CONVERGED = 0.01  # rounds stop when the measured harm varies by less than this share
_FAR_BETTER = 0.1  # a set whose loss rises by less than this share of a random set's need not prove itself further


def rounds_of(share: float) -> int:
    """Return the most rounds of a search with a share of the full effort."""
    return 5 if share > 0.2 else 2


def expected_rounds(share: float) -> tuple[float, float]:
    """Return how many rounds a search usually makes before it stops, and the share of its effort that it then used."""
    rounds = _USUAL_ROUNDS * rounds_of(share)
    return rounds, (_FIRST_WEIGHT + rounds) / (_FIRST_WEIGHT + rounds_of(share))


@dataclass(frozen=True)
class Newton(Strategy):
    """Search in rounds for the set whose removal changes the head least.

    Attributes
    ----------
    coverage : which difficulties must stay, or None
    solver : how each round searches
    minimise : "parameters" or "loss"; None chooses by the number of kept examples
    """

    coverage: Coverage | None = None
    solver: Solver = AdaptiveAnnealing()  # noqa: RUF009  # frozen
    minimise: str | None = None
    formulation: ClassVar[str] = "newton"
    refits: ClassVar[bool] = True

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

    def within(self, budget: Budget) -> Strategy:
        """Return the strategy; a limit on ‖Δθ‖ asks for the least ‖Δθ‖."""
        return replace(self, minimise=self.minimise or "parameters") if budget.limits_parameters else self

    def begin(self, task: Task) -> Search:
        """Return the search for a task."""
        return NewtonSearch(task, self, self.coverage, self.minimise)


@dataclass(frozen=True)
class NewtonSearch(ExchangeSearch):
    """The strategy applied to one task."""

    coverage: Coverage | None
    minimise: str | None

    def minimised(self, count: int) -> str:
        """Return the name of the aim."""
        return self.aim(count).name

    def aim(self, count: int) -> Aim:
        """Return what the search for `count` examples minimises."""
        given = "parameters" if self.minimise is None and self.coverage is not None else self.minimise
        return aim_for(given, self.task.head, len(self.task) - count)

    def best(self, count: int, share: float, progress: Progress) -> Removal:
        """Measure the starting sets and improve the best one, round by round."""
        rounds = rounds_of(share)
        later, aim = self.solver.with_effort(share / (_FIRST_WEIGHT + rounds)), self.aim(count)
        starts, cells = self._starts(count, aim, later.with_effort(_FIRST_WEIGHT), part_of(progress, 0, rounds + 1))
        harm, best = min(((self._harm(aim, found), found) for found in starts), key=lambda pair: pair[0])
        reach = 1.0
        for nth in range(1, rounds + 1):
            advance = part_of(progress, nth, rounds + 1)
            trial = self._round(best, aim, cells, reach, later, self._seed(count, nth), advance)
            reached = self._harm(aim, trial)
            ratio = reached / max(harm, np.finfo(np.float64).tiny)
            if ratio < 1:
                best, harm = trial, reached
            if abs(ratio - 1) < _CONVERGED:
                break
            if ratio > 1:
                reach -= 0.1  # leave out the rows with the longest vectors, which change the curvature most
        return best if self.minimise or cells is not None else self._proven(best, starts[0])

    def findings(self, removal: Removal) -> list[Finding]:
        """State what coverage chose for, and how many labels are disputed if examples were removed for it."""
        if self.coverage is None or not removal.removed.any():
            return []
        found = [about_the_network(), *about_few_epochs(self._learning.later_epochs, removal.removed.mean())]
        doubted = self.coverage.doubted(self.disputed)
        if doubted <= 0:
            return found
        return [
            *found,
            Finding(
                "LS107",
                f"{self.disputed:.0%} of the labels are disputed: the network confidently predicts another class. The hardest "
                f"{doubted:.0%} of each class (or as many as the budget allows) were removed first, regardless of the head.",
            ),
        ]

    def _starts(self, count: int, aim: Aim, solver: Solver, progress: Progress) -> tuple[list[Removal], Rows | None]:
        """Return the measured starting sets, the plain one first, and the cells for exchanges."""
        start, cells = self._start(count)
        annealed = self._refitted(
            self.exchanged(start, solver, self._seed(count, 0), progress, cells, self._guide(aim))
        )
        if cells is not None:
            return [annealed], cells
        plain = self._refitted(Removal(start, Outcome.random))
        return [plain, annealed, self._refitted(Removal(self.quietest(count), Outcome.quietest))], cells

    def _proven(self, found: Removal, plain: Removal) -> Removal:
        """Return the found set, unless the plain one generalises better and the found one is not far better anyway."""
        head = self.task.head
        if loss_rise(head, found.refitted) <= _FAR_BETTER * loss_rise(head, plain.refitted):
            return found
        return plain if does_better(self.task, plain, found) else found

    def _harm(self, aim: Aim, removal: Removal) -> float:
        return aim.harm(self.task.head, removal.refitted)

    def _guide(self, aim: Aim) -> InfluenceMap:
        """Return the influence vectors of an aim, with the Hessian of all examples."""
        return self._loss_guide if aim.needs_loss_metric else self.influence

    @cached_property
    def _loss_guide(self) -> InfluenceMap:
        return self.task.influence(centred=self.strategy.centred(self.task.head.penalty), measured_by=self.task.head)

    def _round(
        self, anchor: Removal, aim: Aim, cells: Rows | None, reach: float, solver: Solver, seed: int, progress: Progress
    ) -> Removal:
        task, removed, theta = self.task, anchor.removed, anchor.refitted.theta
        influence = influence_map(
            task.head.moved_to(theta),
            task.inverses.steering,
            centred=self.strategy.centred(task.head.penalty),
            weights=anchor.weights,
            measured_by=task.head if aim.needs_loss_metric else None,
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
        removed, cells = self.coverage.start(self._learning, self.task.constraints, count, rng, self.disputed)
        return removed, quantile_bins(self.norms, cells, self.coverage.bins)

    @cached_property
    def _learning(self) -> LearningRecord:
        return LearningRecord.of(self.task.recorded)

    @cached_property
    def disputed(self) -> float:
        """Share of the examples with whose label the network confidently disagrees."""
        if self.task.head.loss.targets != "classes":
            return 0.0
        head = self.task.head
        return float(confident_disagreement(self.task.predicted, head.design.targets, head.rows).mean())

    def _refitted(self, removal: Removal) -> Removal:
        task = self.task
        return replace(removal, refit=refit(task.head, removal.weights, task.inverses.precondition))

    def _seed(self, count: int, nth: int) -> int:
        return int(stream(self.task.seed, "search", count, nth).integers(2**31))
