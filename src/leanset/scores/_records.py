from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.scores.contract import Evidence

# Weight of the first epoch in short trainings, as in one of ten epochs: `python -m benchmarks chooser`, "in common".
_FIRST_EPOCH = 0.1

Recorded = Literal["correct", "label_probability", "margin", "error_norm"]


def seed_mean(evidence: Evidence, name: Recorded, value: Callable[[Matrix], Vector]) -> Vector:
    """Return the mean over training runs of one number per row; NaN for rows that no run trained on.

    Parameters
    ----------
    value : turns the (epochs, n) record of one run into (n,) numbers
    """
    total, runs = np.zeros(len(evidence)), np.zeros(len(evidence))
    for record in evidence.dynamics or ():
        trained = ~np.isnan(record.error_norm)
        seen = trained.any(axis=0)
        total[seen] += value(_without_gaps(getattr(record, name)[:, seen].astype(np.float64), trained[:, seen]))
        runs[seen] += 1
    return np.asarray(np.divide(total, runs, out=np.full(len(evidence), np.nan), where=runs > 0))


def share_wrong(evidence: Evidence) -> float:
    """Return the share of answers that were wrong during the training, on average over its runs and examples.

    In the first epoch a network gets most things wrong. So that short trainings say what long ones do, the first epoch counts
    a tenth in trainings of two to nine epochs, as it does in one of ten, and the others count alike.

    Examples
    --------
    >>> from leanset.data import Dynamics
    >>> correct, numbers = np.array([[False, True], [True, True]]), np.ones((2, 2), np.float32)
    >>> runs = (Dynamics(correct, numbers, numbers, numbers),)
    >>> share_wrong(Evidence(groups=np.zeros(2, dtype=int), dynamics=runs))
    0.05
    """
    return float(np.nanmean(seed_mean(evidence, "correct", _wrong)))


def _wrong(correct: Matrix) -> Vector:
    first, later = 1 - correct[0], 1 - correct[1:]
    if len(later) == 0:
        return np.asarray(first)
    weight = min(_FIRST_EPOCH, 1 / len(correct))
    return np.asarray(weight * first + (1 - weight) * later.mean(axis=0))


def windows(record: Matrix, length: int) -> Iterator[Matrix]:
    """Yield every window of `length` consecutive epochs; the whole record if it is shorter."""
    length = min(length, len(record))
    for start in range(len(record) - length + 1):
        yield record[start : start + length]


def _without_gaps(values: Matrix, trained: AnyArray) -> Matrix:
    # A loader that drops its last, incomplete batch leaves a few examples out of an epoch. The last value seen fills
    # the gap; gaps before the first value take the first value.
    if trained.all():
        return values
    epochs = np.arange(len(values))[:, None]
    latest = np.maximum.accumulate(np.where(trained, epochs, -1), axis=0)
    return np.take_along_axis(values, np.where(latest < 0, trained.argmax(axis=0), latest), axis=0)
