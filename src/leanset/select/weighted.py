"""Keep examples with weights: the head stays where it is, exactly where that is possible.

Four sets are tried, in this order until one is exact. The quietest examples go (an example that is fitted carries
nothing). Examples go at random. Examples stay with a probability that grows with the length of their influence, and
count the more the less probable that was, so that every sum is right on average (survey sampling). The search without
weights chooses. Each gets the weights that come nearest to leaving the head in place. The set whose refitted head raises
the objective on *all* examples least is the answer (or moves least, if that is asked for): where the equations cannot be
solved, that is what people care about, not the length of Δθ.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from leanset._arrays import Mask, Vector
from leanset._progress import part_of
from leanset._rng import stream
from leanset.head import refit
from leanset.problem import Constraints, Outcome, Removal, WeightProblem
from leanset.select.aim import AIMS, Aim
from leanset.select.budget import Budget
from leanset.select.newton import Newton
from leanset.select.strategy import Search, Strategy
from leanset.select.task import Task
from leanset.solve import AdaptiveAnnealing, Progress, Solver, solve_weights

_STARTS = 4
_LEAST_PROBABLE = 0.2  # as a share of the mean probability to stay; bounds the base weights


@dataclass(frozen=True)
class Weighted(Strategy):
    """Choose examples to keep, and weights for them within bounds."""

    low: float
    high: float
    minimise: str | None = None
    solver: Solver = AdaptiveAnnealing()  # noqa: RUF009  # frozen
    formulation: ClassVar[str] = "newton"
    refits: ClassVar[bool] = True
    weighs: ClassVar[bool] = True

    def with_solver(self, solver: Solver) -> Strategy:
        """Return the strategy with another solver for the search without weights."""
        return replace(self, solver=solver)

    def within(self, budget: Budget) -> Strategy:
        """Return the strategy; a limit on ‖Δθ‖ asks for the least ‖Δθ‖."""
        return replace(self, minimise=self.minimise or "parameters") if budget.limits_parameters else self

    def begin(self, task: Task) -> Search:
        """Start on a task."""
        return WeightedSearch(task, self, self.low, self.high, AIMS[self.minimise or "loss"], self.solver)


@dataclass(frozen=True)
class WeightedSearch(Search):
    """The strategy at work on a task."""

    low: float
    high: float
    aim: Aim
    solver: Solver

    def minimised(self, count: int) -> str:
        """Return the name of the aim."""
        return self.aim.name

    def best(self, count: int, share: float, progress: Progress) -> Removal:
        """Weigh the starts and return the one that does the least harm."""
        tried = []
        for nth, base in enumerate(self._starts(count)):
            found = self._weighed(base)
            if found.outcome is Outcome.same_head:
                return found
            tried.append(found)
            part_of(progress, nth, _STARTS)(1.0)
        advance = part_of(progress, _STARTS - 1, _STARTS)
        plain = self._without_weights.best(count, share, advance)
        tried += [self._weighed((~plain.removed).astype(np.float64)), replace(plain, row_weights=plain.weights)]
        return min(tried, key=lambda found: self.aim.harm(self.task.head, found.refitted))

    @cached_property
    def _without_weights(self) -> Search:
        """The search without weights; its influence vectors serve all sizes."""
        return Newton(solver=self.solver, minimise=self.aim.name).begin(self.task)

    def _starts(self, count: int) -> Iterator[Vector]:
        constraints, seed = self.task.constraints, self.task.seed
        yield (~self.quietest(count)).astype(np.float64)
        yield (~constraints.random_removal(count, stream(seed, "start", count))).astype(np.float64)
        yield sampled(self.norms, constraints, count, stream(seed, "sample", count))

    def _weighed(self, base: Vector) -> Removal:
        task = self.task
        # The problem, and with it its copy of the kept rows, is gone before the refit makes its own.
        weights = solve_weights(WeightProblem(task.head, base, self.low, self.high, by_loss=self.aim.needs_loss_metric))
        after = refit(task.head, weights.values, task.inverses.precondition)
        outcome = Outcome.same_head if weights.exact else Outcome.nearest_head
        return Removal(base == 0, outcome, refit=after, row_weights=weights.values)


def sampled(norms: Vector, constraints: Constraints, count: int, rng: np.random.Generator) -> Vector:
    """Draw the rows to keep with probabilities that grow with the root of their influence; return weights 1/π.

    Each group keeps its share. Pinned rows stay for certain. Rows of a group are drawn systematically in the order of
    their influence, so that every length is represented.
    """
    base = np.zeros(len(norms))
    quotas = constraints.quotas(count)
    for group in range(constraints.n_groups):
        members = np.flatnonzero(constraints.groups == group)
        pinned = members[constraints.pinned[members]]
        base[pinned] = 1.0
        rest = members[~constraints.pinned[members]]
        keep = len(rest) - int(quotas[group])
        if keep:
            lengths = norms[rest] if np.isfinite(norms[rest]).all() else np.ones(len(rest))  # too long for float32
            probability = _probabilities(np.sqrt(lengths), keep)
            drawn = _systematic(probability, norms[rest], keep, rng)
            base[rest[drawn]] = 1.0 / probability[drawn]
    return base


def _probabilities(sizes: Vector, keep: int) -> Vector:
    """Return probabilities in proportion to sizes that sum to `keep`, none above 1 and none too small."""
    sizes = np.maximum(sizes, _LEAST_PROBABLE * max(float(sizes.mean()), np.finfo(np.float64).tiny))
    probability = np.zeros(len(sizes))
    certain: Mask = np.zeros(len(sizes), dtype=bool)
    while True:
        left = keep - int(certain.sum())
        probability = np.where(certain, 1.0, left * sizes / max(float(sizes[~certain].sum()), 1e-300))
        over = ~certain & (probability >= 1.0)
        if not over.any():
            return np.minimum(probability, 1.0)
        certain |= over


def _systematic(probability: Vector, order_by: Vector, keep: int, rng: np.random.Generator) -> Mask:
    order = np.argsort(order_by, kind="stable")
    steps = np.cumsum(probability[order])
    marks = (rng.random() + np.arange(keep)) * (steps[-1] / keep)
    chosen = np.zeros(len(probability), dtype=bool)
    chosen[order[np.minimum(np.searchsorted(steps, marks), len(order) - 1)]] = True
    short = keep - int(chosen.sum())  # rounding at the ends
    if short > 0:
        chosen[np.flatnonzero(~chosen)[:short]] = True
    return chosen
