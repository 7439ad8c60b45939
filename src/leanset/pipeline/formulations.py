"""How a set of a given size is searched for, in leanset's formulation and in the paper's.

newton: centred influences, divided by the number kept; the search starts with the Hessian of all examples and goes on
with the Hessian of those that the set found so far would keep, because that one decides the true change (the two differ
by a factor of several once 70 % are gone). The round with the smallest Newton step is the answer.

paper: ‖WᵀS‖ with uncentred influences and the full Hessian, annealed, exactly as published.
"""

import abc
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leanset._arrays import Mask, Rows, Vector
from leanset._progress import part_of
from leanset._rng import stream
from leanset.certify import newton_step
from leanset.influence import InfluenceMap, influence_map
from leanset.pipeline.ground import Ground
from leanset.problem import GrowthProblem, Outcome, PruneProblem
from leanset.solve import AdaptiveAnnealing, SimulatedAnnealing, Solver, grow, solve
from leanset.solve.driver import Progress

_STORED_ROWS = 16384


@dataclass(frozen=True)
class Found:
    """A set that a formulation proposes."""

    removed: Mask  # (n,)
    outcome: Outcome


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

    @abc.abstractmethod
    def most_movable(self, width: int) -> int:
        """Return how many rows the solver needs to hold when a vector has `width` coordinates."""

    @cached_property
    def influence(self) -> InfluenceMap:
        """Influence vectors under the Hessian of all examples."""
        ground = self.ground
        return influence_map(ground.state, ground.inverse, centred=self.centred, prepared=ground.for_sums)

    @cached_property
    def norms(self) -> Vector:
        """Length of each example's influence vector."""
        return self.influence.norms()

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

    def exchange(self, influence: InfluenceMap, removed: Mask, solver: Solver, seed: int, progress: Progress) -> Found:
        """Improve a set by exchanges among the movable rows."""
        constraints, rows = self.ground.constraints, self.movable
        elsewhere = removed.copy()
        elsewhere[rows] = False
        gone = np.bincount(constraints.labels[removed], minlength=constraints.n_classes)
        problem = PruneProblem(
            vectors=influence.vectors(rows),
            labels=constraints.labels[rows],
            removed=removed[rows],
            offset=influence.total(np.flatnonzero(elsewhere)),
            within_class=constraints.proportional,
            spare=constraints.capacity - gone,
        )
        selection = solve(problem, solver, seed=seed, progress=progress)
        elsewhere[rows] = selection.removed
        return Found(elsewhere, selection.outcome)

    def start(self, count: int) -> Mask:
        """Return the random set that a search of this size starts from."""
        return self.ground.constraints.random_removal(count, stream(self.ground.settings.seed, "start", count))


class NewtonFormulation(Formulation):
    """Centred influences, kept Hessian."""

    centred = True

    def most_movable(self, width: int) -> int:
        """Return enough rows to balance every coordinate many times over, whatever n is."""
        return max(_STORED_ROWS, 16 * width)

    def search(self, count: int, share: float, progress: Progress) -> Found:
        """Search with the full Hessian, then with the Hessian of what would be kept."""
        ground, rounds = self.ground, 4 if share > 0.5 else 3 if share > 0.2 else 2
        solver = (ground.settings.solver or AdaptiveAnnealing()).lighter(share / rounds)
        removed, best, best_change = self.start(count), None, np.inf
        for nth in range(rounds):
            influence = self.influence if nth == 0 else self._kept_influence(removed)
            seed = int(stream(ground.settings.seed, "search", count, nth).integers(2**31))
            found = self.exchange(influence, removed, solver, seed, part_of(progress, nth, rounds))
            removed = found.removed
            change = float(np.linalg.norm(newton_step(ground.state, removed, ground.precondition).solution))
            if change < best_change:
                best, best_change = found, change
        assert best is not None  # a Newton step is finite, so the first round always counts
        return best

    def _kept_influence(self, removed: Mask) -> InfluenceMap:
        return influence_map(self.ground.state, self.ground.inverse, kept=np.flatnonzero(~removed))


class PaperFormulation(Formulation):
    """Problems (a) and (b) as published."""

    centred = False

    def most_movable(self, width: int) -> int:
        """Return all rows: the paper anneals over the whole set."""
        return len(self.ground.examples)

    def search(self, count: int, share: float, progress: Progress) -> Found:
        """Solve problem (b) by annealing."""
        settings = self.ground.settings
        solver = (settings.solver or SimulatedAnnealing()).lighter(share)
        return self.exchange(self.influence, self.start(count), solver, settings.seed, progress)

    def grow(self, bound: float, progress: Progress) -> Found:
        """Solve problem (a): the largest set whose predicted change is within the bound, unchecked as in the paper."""
        constraints, rows = self.ground.constraints, self.movable
        problem = GrowthProblem(
            self.influence.vectors(rows), constraints.labels[rows], bound, constraints.capacity
        )
        attempt = grow(problem, seed=self.ground.settings.seed, progress=progress)
        removed = np.zeros(len(constraints.labels), dtype=bool)
        removed[rows[attempt.removed]] = True
        return Found(removed, attempt.outcome)
