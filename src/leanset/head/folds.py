"""Heads fitted without a part of the rows and judged on that part: for the choice of l2, and for doubtful labels."""

from dataclasses import dataclass, replace

import numpy as np

from leanset._arrays import AnyArray, Mask, Matrix, Rows, Vector
from leanset._linalg import Operator
from leanset._rng import stream
from leanset.head.design import Design
from leanset.head.fit import fit_head
from leanset.rows import Column, Derived, kept_rows

_FOLDS = 5
_JUDGED_ROWS = 2000  # for the choice of l2, folds are judged until they have so many rows
_JUDGED_MOST = 2**17  # rows of a fold that are judged, about; more would tell no more
_ACCURACY = 0.2  # proven bound on the relative error of the heads; the true error is far smaller
_CLOSE = 0.02  # the same for heads whose predictions are looked at one by one
_FIRST, _STEP, _LEAST, _LARGEST = 1e-2, 10**0.5, 1e-5, 1e2  # below, heads of separable data grow without gaining
_GAIN = 0.998  # a held-out loss above this share of the lowest is no gain


@dataclass(frozen=True)
class ChosenL2:
    """The l2 with the lowest loss on held-out rows, and a head near its minimum."""

    l2: float
    start: Matrix


def choose_l2(design: Design, validation: Design | None, seed: int) -> ChosenL2:
    """Find the l2 whose head has the lowest loss on rows that it was not fitted on: validation rows, or folds without any.

    Validation rows come first because training rows may not be fresh: a network that learnt them has features for them
    that promise too much. Walks from 1e-2 in steps of √10, first towards smaller values and, if that is no better,
    towards larger ones, until the held-out loss stops falling. Each fit starts from the head of the last one.

    Examples
    --------
    >>> from leanset.head.softmax import Softmax
    >>> from leanset.rows import MemoryRows
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 80)
    >>> noise = Design(MemoryRows(np.c_[rng.normal(size=(80, 30)), np.ones(80)]), labels, Softmax(2))
    >>> signal = Design(MemoryRows(np.c_[labels + 0.3 * rng.normal(size=80), np.ones(80)]), labels, Softmax(2))
    >>> choose_l2(noise, None, 0).l2 > choose_l2(signal, None, 0).l2
    True
    """
    design = replace(design, penalise_bias=True)  # a fold may lack a class, whose best bias has no limit
    folds = [] if validation else held_out_folds(len(design), _rng(seed), judged_rows=_JUDGED_ROWS)
    judged = [validation] if validation else [design.sample(_thinned(np.flatnonzero(fold))) for fold in folds]
    fitted_on: list[Vector | None] = [(~fold).astype(np.float64) for fold in folds] if folds else [None]
    heads: list[Matrix | None] = [None] * len(judged)

    def held_out_loss(l2: float) -> float:
        total = 0.0
        for nth, (weights, rows) in enumerate(zip(fitted_on, judged, strict=True)):
            head = fit_head(design, l2, weights=weights, start=heads[nth], relative_error=_ACCURACY).theta
            heads[nth] = head
            total += rows.mean_loss(head)
        return total / len(judged)

    best, lowest = _FIRST, held_out_loss(_FIRST)
    start = heads[0]
    for factor in (1 / _STEP, _STEP):
        walked = False
        while _LEAST <= best * factor <= _LARGEST and (loss := held_out_loss(best * factor)) < _GAIN * lowest:
            best, lowest, start, walked = best * factor, loss, heads[0], True
        if walked:
            break
    assert start is not None  # at least one fold is fitted
    return ChosenL2(best, start)


def cross_fitted(design: Design, l2: float, start: Matrix, precondition: Operator, seed: int) -> Column:
    """Return the (n, C) predictions for each row of a head that was fitted without it.

    Parameters
    ----------
    design, l2 : rows, targets, loss and weight of the penalty
    start, precondition : the head of all rows and the inverse of its Hessian, from which the fits start
    seed : of the folds
    """
    design = replace(design, penalise_bias=True)
    folds = held_out_folds(len(design), _rng(seed))
    heads = []
    for fold in folds:
        weights = (~fold).astype(np.float64)
        fit = fit_head(design, l2, weights=weights, start=start, precondition=precondition, relative_error=_CLOSE)
        heads.append(fit.theta)
    loss, number = design.loss, np.zeros(len(design), dtype=np.int8)
    for nth, fold in enumerate(folds):
        number[fold] = nth

    def outputs(x: Matrix, fold: AnyArray) -> Matrix:
        found = np.zeros((len(x), loss.outputs))
        for nth, theta in enumerate(heads):
            rows = fold == nth
            found[rows] = loss.predicted(x[rows] @ theta.T)
        return found

    if not design.stores_outputs:
        return Derived(outputs, (number,))
    return kept_rows(outputs, design.rows, number, width=design.width)


def held_out_folds(
    n: int, rng: np.random.Generator, *, parts: int = _FOLDS, judged_rows: int | None = None
) -> list[Mask]:
    """Cut n rows into random parts; return all, or as many as it takes to have `judged_rows` rows in them.

    Examples
    --------
    >>> [int(part.sum()) for part in held_out_folds(100, np.random.default_rng(0), judged_rows=30)]
    [20, 20]
    """
    fold = rng.permutation(n) % parts
    used = parts if judged_rows is None else min(parts, -(-judged_rows * parts // n))
    return [fold == nth for nth in range(used)]


def _thinned(rows: Rows) -> Rows:
    return rows[:: max(1, len(rows) // _JUDGED_MOST)]


def _rng(seed: int) -> np.random.Generator:
    return stream(seed, "folds of the head")
