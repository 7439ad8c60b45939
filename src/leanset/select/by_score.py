"""Pruning methods of the literature as strategies, with the same budgets, constraints and certificate."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from leanset._arrays import Mask, Rows, Vector, mask_of
from leanset._rng import stream
from leanset.problem import Constraints, Outcome, Removal
from leanset.scores import Evidence, Method, Needs
from leanset.select.strategy import Search, Strategy
from leanset.select.task import Task
from leanset.solve import Progress


@dataclass(frozen=True)
class ByScore(Strategy):
    """Remove the examples that a method of the literature chooses; there is no search, but the effect is measured."""

    scorer: Method
    formulation: ClassVar[str] = "newton"

    @property
    def method(self) -> str:
        """The method's name."""
        return self.scorer.name

    @property
    def chooser(self) -> Method | None:
        """The method."""
        return self.scorer

    @property
    def needs(self) -> Needs:
        """What the method needs to know about the examples."""
        return self.scorer.all_needs()

    def begin(self, task: Task) -> Search:
        """Return the search for a task."""
        return ScoreSearch(task, self, self.scorer)


@dataclass(frozen=True)
class ScoreSearch(Search):
    """A method of the literature applied to one task."""

    chooser: Method

    @cached_property
    def evidence(self) -> Evidence:
        """What is known about the examples; raises if the method needs more."""
        needs = self.chooser.all_needs()
        norms = self.norms if "influence_norm" in needs else None
        evidence = replace(self.task.evidence, influence_norm=norms)
        evidence.check(self.chooser.name, needs)
        return evidence

    @cached_property
    def scores(self) -> Vector | None:
        """The score of every example, or None if the method has no score."""
        return self.chooser.scores(self.evidence)

    def best(self, count: int, share: float, progress: Progress) -> Removal:
        """Return the choice of the method; `share` has no effect."""
        rng = stream(self.task.seed, self.chooser.name, count)
        removed = chosen_by(self.chooser, self.evidence, self.task.constraints, count, rng)
        return Removal(removed, Outcome.scored)


def chosen_by(
    method: Method, evidence: Evidence, constraints: Constraints, count: int, rng: np.random.Generator
) -> Mask:
    """Let a method choose `count` examples to remove, under constraints.

    If removals are proportional, each group is pruned separately with its own quota, so that methods that spread their
    choice (herding, k-center, strata) spread it within each group.
    """
    free = constraints.free
    if not constraints.proportional:
        return constraints.first_allowed(_ordered(method, evidence, free, count, rng), count)
    chosen = []
    for c, quota in enumerate(constraints.quotas(count)):
        members = free[constraints.groups[free] == c]
        if quota:
            chosen.append(_ordered(method, evidence, members, int(quota), rng)[:quota])
    return mask_of(np.concatenate(chosen), len(evidence))


def _ordered(method: Method, evidence: Evidence, rows: Rows, count: int, rng: np.random.Generator) -> Rows:
    return rows[method.preference(evidence.take(rows), count, rng)]
