from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from leanset._arrays import Matrix
from leanset.head import Design


@dataclass(frozen=True)
class LossGap:
    """Mean validation loss after minus before, with a paired 95 % interval (None for a single example)."""

    mean: float
    low: float | None
    high: float | None


def paired_gap(validation: Design, before: Matrix, after: Matrix) -> LossGap:
    """Compare two heads example by example on the validation data.

    Pairing cancels what is hard for both heads, which is nearly all of the spread.

    Examples
    --------
    >>> from leanset.head import Softmax
    >>> from leanset.rows import MemoryRows
    >>> design = Design(MemoryRows(np.ones((4, 1))), np.array([0, 1, 0, 1]), Softmax(2))
    >>> paired_gap(design, np.zeros((2, 1)), np.zeros((2, 1)))
    LossGap(mean=0.0, low=0.0, high=0.0)
    """
    differences = validation.losses(after) - validation.losses(before)
    mean, n = float(differences.mean()), len(differences)
    if n < 2:
        return LossGap(mean, None, None)
    half = float(stdtrit(n - 1, 0.975) * differences.std(ddof=1) / np.sqrt(n))
    return LossGap(mean, mean - half, mean + half)
