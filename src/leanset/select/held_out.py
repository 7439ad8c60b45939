"""Compare two removals on training rows that take no part in the refits."""

import numpy as np

from leanset._arrays import Mask, Vector
from leanset._rng import stream
from leanset.certify import paired
from leanset.head import fit_head, held_out_folds
from leanset.problem import Removal
from leanset.select.task import Task

_JUDGED_ROWS = 5000  # folds are judged until they have so many rows
_PARTS, _PARTS_OF_FEW = 5, 20  # where rows are few, a fifth of the kept ones is too much to do without
_ACCURACY = 1e-3  # of the refits; differences between removals are far larger


def does_better(task: Task, challenger: Removal, holder: Removal) -> bool:
    """Return whether a removal has a lower loss than another on held-out rows, beyond chance.

    The rise of the loss on training rows flatters a set that was chosen by them. So both heads are refitted without a
    part of the rows and judged on that part, for as many parts as it takes to judge enough rows.
    """
    drawn, worth = _folds(len(task), stream(task.seed, "held-out rows")), task.head.design.worth
    folds = [fold for fold in drawn if all(each.weights[~fold].any() for each in (challenger, holder))]
    if not folds:
        return False  # so few rows are kept that one part holds out all of them
    differences = [_losses(task, challenger, fold) - _losses(task, holder, fold) for fold in folds]
    counts = None if worth is None else np.concatenate([worth[fold] for fold in folds])
    return paired(np.concatenate(differences), counts).highest < 0.0


def refits_of_comparison(n: int) -> int:
    """Return how many refits a comparison on n rows takes."""
    return 2 * len(_folds(n, np.random.default_rng(0)))


def _folds(n: int, rng: np.random.Generator) -> list[Mask]:
    return held_out_folds(n, rng, parts=_PARTS_OF_FEW if n <= _JUDGED_ROWS else _PARTS, judged_rows=_JUDGED_ROWS)


def _losses(task: Task, removal: Removal, held_out: Mask) -> Vector:
    head, rows = task.head, np.flatnonzero(held_out)
    fit = fit_head(
        head.design,
        head.l2_on(removal.weights),
        weights=np.where(held_out, 0.0, removal.weights),
        start=removal.refitted.theta,
        precondition=task.inverses.precondition,
        relative_error=_ACCURACY,
    )
    return head.design.sample(rows).losses(fit.theta)
