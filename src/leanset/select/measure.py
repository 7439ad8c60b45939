from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from leanset._rng import stream
from leanset.certify import paired_gap
from leanset.head import newton_step, refit
from leanset.problem import Effect, Removal
from leanset.select.strategy import Search
from leanset.select.task import Task
from leanset.solve import Progress


def searched(search: Search, count: int, share: float, progress: Progress) -> Removal:
    """Search for a set of `count` examples and measure the effect of its removal.

    The result depends only on the search, the count and the share of effort, so that searches over the count are
    reproducible and monotone in their limit.
    """
    if count == 0:
        return measured(search, search.removal_of_nothing())
    return measured(search, search.best(count, share, progress))


def measured(search: Search, removal: Removal) -> Removal:
    """Measure the effect of a removal: linear prediction, Newton step, exact refit and loss gap."""
    task, centred = search.task, search.strategy.centred(search.task.head.penalty)
    head, inverses = task.head, task.inverses
    if not removal.count:
        gap = None if task.validation is None else 0.0
        return replace(removal, effect=Effect(0.0, 0.0, 0.0, 0.0, gap))
    linear = inverses.influence_of_sum(head, removal.gone, centred=centred)
    rescaled = len(head) / removal.weights.sum() if centred else 1.0  # as published: divided by n, not by n − m
    newton = newton_step(head, removal.weights, inverses.precondition)
    after = removal.refit or refit(head, removal.weights, inverses.precondition)
    gap = None if task.validation is None else paired_gap(task.validation, head.theta, after.theta).mean
    effect = Effect(
        influence_change=float(rescaled * np.linalg.norm(linear.solution)),
        inverse_residual=linear.worst_residual,
        newton_change=float(np.linalg.norm(newton.solution)),
        refit_change=after.change,
        validation_loss_gap=gap,
    )
    return replace(removal, refit=after, effect=effect)


def random_changes(task: Task, count: int, draws: int) -> Iterator[float]:
    """Yield the measured changes of random removals of the same size, under the same constraints."""
    for draw in range(draws):
        removed = task.constraints.random_removal(count, stream(task.seed, "random removal", count, draw))
        weights = (~removed).astype(np.float64)
        yield refit(task.head, weights, task.inverses.precondition).change
