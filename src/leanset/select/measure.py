from collections.abc import Callable
from dataclasses import replace

import numpy as np

from leanset._arrays import Matrix
from leanset._rng import stream
from leanset.certify import quality_on
from leanset.head import newton_step, refit
from leanset.problem import Effect, Quality, RandomRemovals, Removal
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
    """Measure the effect of a removal: linear prediction, Newton step, exact refit, losses and answers."""
    task, centred = search.task, search.strategy.centred(search.task.head.penalty)
    head, inverses = task.head, task.inverses
    if not removal.count:
        return replace(removal, effect=Effect(0.0, 0.0, 0.0, 0.0, *_qualities(task, head.theta)))
    linear = inverses.influence_of_sum(head, removal.gone, centred=centred)
    total = head.design.total
    rescaled = total() / total(removal.weights) if centred else 1.0  # as published: divided by n, not by n − m
    newton = newton_step(head, removal.weights, inverses.precondition)
    after = removal.refit or refit(head, removal.weights, inverses.precondition)
    training, validation = _qualities(task, after.theta)
    effect = Effect(
        influence_change=float(rescaled * np.linalg.norm(linear.solution)),
        inverse_residual=linear.worst_residual,
        newton_change=float(np.linalg.norm(newton.solution)),
        refit_change=after.change,
        training=training,
        validation=validation,
    )
    return replace(removal, refit=after, effect=effect)


def random_removals(search: Search, count: int, draws: int, done: Callable[[int], None]) -> RandomRemovals:
    """Measure random removals of one size, under the same constraints.

    Every kept example counts once. If the search gives weights, each counts n/(n−m) times (in terms of what the examples
    count, if they came with weights), so that the random set stands for all examples, too: that is the best that one can do
    without knowing more, and the fair thing to compare with.
    """
    task = search.task
    heads, changes = [], np.zeros(draws)
    for draw in range(draws):
        rng = stream(task.seed, "random removal", count, draw)
        removed = task.constraints.random_removal(count, rng) if count else task.nothing()
        kept = (~removed).astype(np.float64)
        if search.strategy.weighs:
            kept *= task.head.design.total() / task.head.design.total(kept)
        after = refit(task.head, kept, task.inverses.precondition)
        heads.append(after.theta)
        changes[draw] = after.change
        done(draw + 1)
    qualities = [_qualities(task, theta) for theta in heads]
    judge = task.validation or task.head.design
    return RandomRemovals(
        changes=changes,
        training=tuple(training for training, _ in qualities),
        validation=tuple(validation for _, validation in qualities if validation is not None),
        losses=np.mean([judge.losses(theta) for theta in heads], axis=0),
    )


def _qualities(task: Task, theta: Matrix) -> tuple[Quality, Quality | None]:
    """Return what a head does on the training and on the validation rows."""
    before = task.head.theta
    held_out = None if task.validation is None else quality_on(task.validation, before, theta)
    return quality_on(task.head.design, before, theta), held_out
