from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask
from leanset._rng import stream
from leanset.certify import newton_step, paired_gap, refit
from leanset.influence import influence_of_sum
from leanset.pipeline.formulations import Formulation, Found
from leanset.pipeline.ground import Ground
from leanset.problem import Outcome
from leanset.solve.driver import Progress


@dataclass(frozen=True)
class Evaluation:
    """A set of a given size, searched for and measured."""

    removed: Mask
    outcome: Outcome
    influence_change: float
    inverse_residual: float
    newton_change: float
    refit_change: float
    validation_loss_gap: float | None

    @property
    def count(self) -> int:
        """How many examples the set removes."""
        return int(self.removed.sum())


def evaluate(formulation: Formulation, count: int, share: float, progress: Progress) -> Evaluation:
    """Search for a set of `count` examples and measure what its removal does.

    Depends on nothing but the formulation, the count and the share of effort, so that searches over the count are
    reproducible and monotone in their limit.
    """
    if count == 0:
        nothing = np.zeros(len(formulation.ground.examples), dtype=bool)
        return measured(formulation, Found(nothing, Outcome.nothing_fits))
    return measured(formulation, formulation.search(count, share, progress))


def measured(formulation: Formulation, found: Found) -> Evaluation:
    """Measure a found set: linear prediction, Newton step, exact refit and loss gap."""
    ground, removed = formulation.ground, found.removed
    if not removed.any():
        gap = None if ground.validation is None else 0.0
        return Evaluation(removed, found.outcome, 0.0, 0.0, 0.0, 0.0, gap)
    linear = influence_of_sum(ground.state, np.flatnonzero(removed), ground.for_sums, centred=formulation.centred)
    rescaled = len(removed) / (~removed).sum() if formulation.centred else 1.0  # the paper divides by n, not by n − m
    newton = newton_step(ground.state, removed, ground.precondition)
    after = found.measurement or refit(ground.state, removed, ground.precondition)
    gap = None if ground.validation is None else paired_gap(ground.validation, ground.theta, after.theta).mean
    return Evaluation(
        removed,
        found.outcome,
        float(rescaled * np.linalg.norm(linear.solution)),
        linear.worst_residual,
        float(np.linalg.norm(newton.solution)),
        after.change,
        gap,
    )


def random_changes(ground: Ground, count: int, draws: int) -> Iterator[float]:
    """Yield the measured change of random removals of the same size under the same constraints."""
    for draw in range(draws):
        removed = ground.constraints.random_removal(count, stream(ground.settings.seed, "random removal", count, draw))
        yield refit(ground.state, removed, ground.precondition).change
