"""The pruning methods of the literature as formulations, so that they get the same budgets, constraints and certificate."""

import dataclasses
from functools import cached_property

import numpy as np

from leanset._arrays import Mask, Rows, Vector, mask_of
from leanset._rng import stream
from leanset.pipeline.formulations import Formulation, Found
from leanset.problem import Constraints, Outcome
from leanset.scores import Evidence, Method
from leanset.solve.driver import Progress


def removal(method: Method, evidence: Evidence, constraints: Constraints, count: int, rng: np.random.Generator) -> Mask:
    """Let a method choose `count` examples to remove under constraints.

    When classes keep their share, each class is pruned by itself with its own quota, so that methods which spread
    their choice (herding, k-center, strata) spread it within each class.
    """
    free = constraints.free
    if not constraints.proportional:
        return constraints.first_allowed(_ordered(method, evidence, free, count, rng), count)
    chosen = []
    for c, quota in enumerate(constraints.quotas(count)):
        members = free[constraints.labels[free] == c]
        if quota:
            chosen.append(_ordered(method, evidence, members, int(quota), rng)[:quota])
    return mask_of(np.concatenate(chosen), len(evidence))


def _ordered(method: Method, evidence: Evidence, rows: Rows, count: int, rng: np.random.Generator) -> Rows:
    return rows[method.preference(evidence.take(rows), count, rng)]


class ScoredFormulation(Formulation):
    """Remove what a method of the literature says; nothing is searched, everything is measured."""

    centred = True

    @cached_property
    def method(self) -> Method:
        """The method of the run."""
        method = self.ground.settings.method
        assert method is not None  # this formulation is only used with one
        return method

    @cached_property
    def evidence(self) -> Evidence:
        """What was recorded, completed by what the features and the fitted head tell."""
        inputs, needs = self.ground.inputs, self.method.all_needs()
        evidence = dataclasses.replace(
            inputs.recorded,
            features=inputs.examples.features,
            probability=self.ground.probability,
            influence_norm=self.norms if "influence_norm" in needs else None,
        )
        evidence.check(self.method.name, needs)
        return evidence

    @cached_property
    def scores(self) -> Vector | None:
        """The method's score of every example, if it has one."""
        return self.method.scores(self.evidence)

    def search(self, count: int, share: float, progress: Progress) -> Found:
        """Ask the method; it has no effort to share out."""
        rng = stream(self.ground.settings.seed, self.method.name, count)
        return Found(removal(self.method, self.evidence, self.ground.constraints, count, rng), Outcome.scored)
