from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.scores.contract import Evidence

_WINDOW = 10  # epochs, that of DynUnc
# Weight of the first epoch in short trainings, as in one of ten epochs. With it, trainings of three and five epochs
# choose much more of what one of ten chooses: `python -m benchmarks chooser`, "in common".
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


def epoch_weights(epochs: int) -> Vector:
    """Return how much each epoch counts where trainings of different lengths are to say the same.

    In the first epoch a network gets everything wrong and learns most of it. So it counts a tenth in a training of ten
    epochs, and in shorter ones no more; the others count alike.

    Examples
    --------
    >>> epoch_weights(4).round(2).tolist(), epoch_weights(20).round(2).tolist()[:2]
    ([0.1, 0.3, 0.3, 0.3], [0.05, 0.05])
    """
    if epochs == 1:
        return np.ones(1)
    first = min(_FIRST_EPOCH, 1 / epochs)
    return np.concatenate([[first], np.full(epochs - 1, (1 - first) / (epochs - 1))])


def share_wrong(evidence: Evidence) -> float:
    """Return the share of answers that were wrong during the training, over its epochs (`epoch_weights`), runs and examples.

    Examples
    --------
    >>> from leanset.data import Dynamics
    >>> correct, numbers = np.array([[False, True], [True, True]]), np.ones((2, 2), np.float32)
    >>> runs = (Dynamics(correct, numbers, numbers, numbers),)
    >>> share_wrong(Evidence(groups=np.zeros(2, dtype=int), dynamics=runs))
    0.05
    """
    wrong = seed_mean(evidence, "correct", lambda correct: np.asarray(epoch_weights(len(correct)) @ (1 - correct)))
    return float(np.nanmean(wrong))


def swing(evidence: Evidence) -> Vector:
    """Return how much the probability of each label swings, (n,): `DynUnc`, with epochs of short trainings as they count.

    In a short training the first epoch is much of it, and so is what every example rises by at first.

    Examples
    --------
    >>> from leanset.data import Dynamics
    >>> probability = np.array([[0.1, 0.5], [0.9, 0.9], [0.9, 0.3]], np.float32)  # learnt at once; never for long
    >>> runs = (Dynamics(probability > 0.5, probability, probability, probability),)
    >>> evidence = Evidence(groups=np.zeros(2, dtype=int), dynamics=runs)
    >>> swing(evidence).round(2).tolist(), probability.std(axis=0).astype(float).round(2).tolist()
    ([0.24, 0.29], [0.38, 0.25])
    """
    return seed_mean(evidence, "label_probability", _mean_deviation)


def _mean_deviation(probability: Matrix) -> Vector:
    return np.asarray(np.mean([_deviation(part) for part in windows(probability, _WINDOW)], axis=0))


def _deviation(values: Matrix) -> Vector:
    weights = epoch_weights(len(values))
    return np.sqrt(weights @ np.square(values - weights @ values))


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
