"""How a set of a given size is searched for, in leanset's formulation and in the paper's.

newton: centred influences. Where the difficulty of the examples is known and to be covered, the search starts from a set
that covers it and exchanges within class and stratum only. Else two sets are measured first: one annealed under the
Hessian of all examples from a random start, and the examples with the shortest influence vectors, which is the better
one where few examples carry the curvature (small or nearly separable data). The search goes on in rounds. Each round takes the
influences afresh at the head *refitted on the kept examples*, with the kept examples' Hessian, so that in the
neighbourhood of the current set the objective is the true change of the head up to second order; it anneals, refits,
and keeps the new set only if the measured change is smaller. A round that fails is repeated without the examples of
longest influence, whose exchange changes the curvature most.

paper: ‖WᵀS‖ with uncentred influences and the full Hessian, annealed, exactly as published.
"""

import abc
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leanset._arrays import Mask, Rows, Vector, quantile_bins
from leanset._progress import part_of
from leanset._rng import stream
from leanset.certify import Measurement, refit
from leanset.influence import HeadState, InfluenceMap, influence_map
from leanset.influence.vectors import ROWS_PER_COORDINATE
from leanset.pipeline.ground import Ground
from leanset.problem import GrowthProblem, Outcome, PruneProblem
from leanset.scores import AUM
from leanset.scores.suspects import confident_disagreement
from leanset.solve import AdaptiveAnnealing, SimulatedAnnealing, Solver, grow, solve
from leanset.solve.driver import Progress

_FIRST_WEIGHT = 3  # the first annealing gets as much effort as three later rounds, which start near their goal
_CONVERGED = 0.01  # relative change of the measured change at which rounds stop


@dataclass(frozen=True)
class Found:
    """A set that a formulation proposes."""

    removed: Mask  # (n,)
    outcome: Outcome
    measurement: Measurement | None = None  # where the search had to refit anyway


@dataclass(frozen=True)
class Formulation(abc.ABC):
    """A reading of "the best set to remove"."""

    ground: Ground

    @property
    @abc.abstractmethod
    def centred(self) -> bool:
        """Whether influences are centred."""

    @abc.abstractmethod
    def search(self, count: int, share: float, progress: Progress) -> Found:
        """Look for the best `count` examples to remove with about `share` of the solver's full effort."""

    @cached_property
    def influence(self) -> InfluenceMap:
        """Influence vectors under the Hessian of all examples."""
        ground = self.ground
        return influence_map(ground.state, ground.inverse, centred=self.centred, prepared=ground.for_sums)

    @cached_property
    def norms(self) -> Vector:
        """Length of each example's influence vector."""
        return self.influence.norms()


class Annealed(Formulation):
    """A formulation that searches by exchanging rows."""

    @abc.abstractmethod
    def most_movable(self, width: int) -> int:
        """Return how many rows the solver needs to hold when a vector has `width` coordinates."""

    @cached_property
    def movable(self) -> Rows:
        """Rows whose vectors the solver holds; the others stay as the random start put them.

        The longest vectors decide the sum, so they come first; a quarter of the places goes to rows drawn at random,
        which serve as exchange partners.
        """
        free = self.ground.constraints.free
        width = self.influence.vectors(free[:1]).shape[1]
        places = min(len(free), self.most_movable(width), self.ground.settings.memory // (4 * width))
        if places == len(free):
            return free
        ranked = free[np.argsort(-self.norms[free], kind="stable")]
        heavy = ranked[: 3 * places // 4]
        rng = stream(self.ground.settings.seed, "quiet rows")
        return np.sort(np.concatenate([heavy, rng.choice(ranked[len(heavy) :], places - len(heavy), replace=False)]))

    def problem(
        self, influence: InfluenceMap, rows: Rows, removed: Mask, total: Vector, cells: Rows | None = None
    ) -> PruneProblem:
        """State the exchange of some rows, the others staying as they are.

        Parameters
        ----------
        influence : vectors of single rows
        rows : those that may move
        removed : (n,) the set to start from
        total : (p,) the change of the head that this set stands for
        cells : (n,) exchange rows of one cell only; of one class if None and classes keep their share
        """
        constraints = self.ground.constraints
        vectors, inside = influence.vectors(rows), removed[rows]
        gone = np.bincount(constraints.labels[removed], minlength=constraints.n_classes)
        return PruneProblem(
            vectors=vectors,
            labels=constraints.labels[rows],
            removed=inside,
            offset=total - vectors[inside].sum(axis=0, dtype=np.float64),
            cells=self._cells(cells)[rows],
            spare=constraints.capacity - gone,
        )

    def _cells(self, cells: Rows | None) -> Rows:
        constraints = self.ground.constraints
        if cells is not None:
            return cells
        return constraints.labels if constraints.proportional else np.zeros_like(constraints.labels)

    def exchange(
        self,
        influence: InfluenceMap,
        removed: Mask,
        solver: Solver,
        seed: int,
        progress: Progress,
        cells: Rows | None = None,
    ) -> Found:
        """Improve a set by exchanges among the movable rows."""
        problem = self.problem(influence, self.movable, removed, influence.total(np.flatnonzero(removed)), cells)
        return _improved(problem, self.movable, removed, solver, seed, progress)

    def start(self, count: int) -> Mask:
        """Return the random set that a search of this size starts from."""
        return self.ground.constraints.random_removal(count, stream(self.ground.settings.seed, "start", count))


def most_movable(n: int, width: int) -> int:
    """Return how many rows the newton formulation holds, for n examples and vectors of `width` coordinates.

    What the random rest leaves unbalanced grows with √n and must be made up for by the movable rows. Measured on a
    mixture of 1,000,000 examples: 5.6 times below random with 16,384 movable rows, 260 times with 65,536.
    """
    return max(16384, ROWS_PER_COORDINATE * width, n // 16)


def _improved(problem: PruneProblem, rows: Rows, removed: Mask, solver: Solver, seed: int, progress: Progress) -> Found:
    selection = solve(problem, solver, seed=seed, progress=progress)
    after = removed.copy()
    after[rows] = selection.removed
    return Found(after, selection.outcome)


class NewtonFormulation(Annealed):
    """Centred influences, kept Hessian, every step measured."""

    centred = True

    def most_movable(self, width: int) -> int:
        """Return enough rows to balance every coordinate, and what the random rest leaves unbalanced."""
        return most_movable(len(self.ground.examples), width)

    def search(self, count: int, share: float, progress: Progress) -> Found:
        """Measure the starts and improve the better one, round by round."""
        rounds = 5 if share > 0.2 else 2
        solver = self.ground.settings.solver or AdaptiveAnnealing()
        later = solver.lighter(share / (_FIRST_WEIGHT + rounds))
        first = later.lighter(_FIRST_WEIGHT)
        start, cells = self._start(count)
        annealed = self.exchange(
            self.influence, start, first, self._seed(count, 0), part_of(progress, 0, rounds + 1), cells
        )
        best = self._measured(annealed)
        if cells is None:
            free = self.ground.constraints.free
            quietest = self.ground.constraints.first_allowed(free[np.argsort(self.norms[free], kind="stable")], count)
            best = _better(best, self._measured(Found(quietest, Outcome.quietest)))
        reach = 1.0
        for nth in range(1, rounds + 1):
            trial = self._round(*best, cells, reach, later, self._seed(count, nth), part_of(progress, nth, rounds + 1))
            ratio = trial[1].change / max(best[1].change, np.finfo(np.float64).tiny)
            best = _better(best, trial)
            if abs(ratio - 1) < _CONVERGED:
                break
            if ratio > 1:
                reach -= 0.1  # of the rows by length: leave out those that change the curvature most
        found, measurement = best
        return Found(found.removed, found.outcome, measurement)

    def _round(
        self,
        found: Found,
        anchor: Measurement,
        cells: Rows | None,
        reach: float,
        solver: Solver,
        seed: int,
        progress: Progress,
    ) -> tuple[Found, Measurement]:
        ground, removed = self.ground, found.removed
        state = HeadState.at(ground.state.design, anchor.theta, ground.state.l2)
        influence = influence_map(state, ground.inverse, kept=np.flatnonzero(~removed))
        rows = self.movable
        if reach < 1.0:
            rows = rows[self.norms[rows] <= np.quantile(self.norms[rows], reach)]
        moved = influence.coordinates(anchor.theta - ground.theta)
        problem = self.problem(influence, rows, removed, moved, cells)
        return self._measured(_improved(problem, rows, removed, solver, seed, progress))

    def _start(self, count: int) -> tuple[Mask, Rows | None]:
        """Return the set to start from and, if difficulty is to be covered, the cells that keep it so."""
        ground = self.ground
        if ground.settings.coverage is None:
            return self.start(count), None
        coverage, rng = ground.settings.coverage, stream(ground.settings.seed, "start", count)
        removed, cells = coverage.start(self._difficulty, ground.constraints, count, rng, self.suspect)
        return removed, quantile_bins(self.norms, cells, coverage.weights)

    @cached_property
    def _difficulty(self) -> Vector:
        return AUM().difficulty(self.ground.inputs.recorded)

    @cached_property
    def suspect(self) -> float:
        """Share of the examples whose label the network, or the head, confidently disputes."""
        disputed = confident_disagreement(self.ground.probability, self.ground.examples.labels)
        return float(disputed.mean())

    def _measured(self, found: Found) -> tuple[Found, Measurement]:
        return found, refit(self.ground.state, found.removed, self.ground.precondition)

    def _seed(self, count: int, nth: int) -> int:
        return int(stream(self.ground.settings.seed, "search", count, nth).integers(2**31))


def _better(one: tuple[Found, Measurement], other: tuple[Found, Measurement]) -> tuple[Found, Measurement]:
    return min(one, other, key=lambda found: found[1].change)


class PaperFormulation(Annealed):
    """Problems (a) and (b) as published."""

    centred = False

    def most_movable(self, width: int) -> int:
        """Return all rows: the paper anneals over the whole set."""
        return len(self.ground.examples)

    def search(self, count: int, share: float, progress: Progress) -> Found:
        """Solve problem (b) by annealing."""
        solver = (self.ground.settings.solver or SimulatedAnnealing()).lighter(share)
        return self.exchange(self.influence, self.start(count), solver, self.ground.settings.seed, progress)

    def _solver(self) -> SimulatedAnnealing:
        solver = self.ground.settings.solver
        return solver if isinstance(solver, SimulatedAnnealing) else SimulatedAnnealing()

    def grow(self, bound: float, progress: Progress) -> Found:
        """Solve problem (a): the largest set whose predicted change is within the bound, unchecked as in the paper."""
        constraints, rows = self.ground.constraints, self.movable
        problem = GrowthProblem(self.influence.vectors(rows), constraints.labels[rows], bound, constraints.capacity)
        attempt = grow(problem, self._solver(), seed=self.ground.settings.seed, progress=progress)
        removed = np.zeros(len(constraints.labels), dtype=bool)
        removed[rows[attempt.removed]] = True
        return Found(removed, attempt.outcome)
