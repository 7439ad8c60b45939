from collections.abc import Iterator

import numpy as np
from torch.utils.data import Sampler

from leanset._arrays import Rows, Vector
from leanset._errors import InputError
from leanset._rng import stream


class KeptSampler(Sampler[int]):
    """Draws rows in random order, each as often as its weight says: systematic sampling.

    With weights w and m draws an epoch, a row comes up m·w/Σw times on average, and never a whole time more or less than
    that. Independent draws have the same mean but a larger variance, and would leave out a third of equal rows.

    Parameters
    ----------
    rows : row numbers in the data set
    weights : one positive number for each
    seed : of the draws
    length : draws in an epoch; one for each row if None

    Examples
    --------
    >>> drawn = list(KeptSampler(np.array([3, 5, 8]), np.array([1.0, 1.0, 2.0]), length=4))
    >>> sorted(drawn)
    [3, 5, 8, 8]
    """

    def __init__(self, rows: Rows, weights: Vector, *, seed: int = 0, length: int | None = None) -> None:
        if length is not None and length < 1:
            raise InputError(f"`length={length}` must be a whole number of at least 1, or None.")
        self.rows, self.weights = rows, weights
        self.seed, self.length, self.epoch = seed, len(rows) if length is None else length, 0

    def __len__(self) -> int:
        return self.length

    def set_epoch(self, epoch: int) -> None:
        """Choose the draws of an epoch; without it, each pass is the next epoch."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        rng = stream(self.seed, "sampler", self.epoch)
        self.epoch += 1
        order = rng.permutation(len(self.rows))  # anew, so that neighbours do not always share a rounding
        upto = np.cumsum(self.weights[order])
        marks = np.minimum(np.floor(upto * (self.length / upto[-1]) + rng.random()), self.length)
        marks[-1] = self.length  # which it is but for rounding
        drawn = np.repeat(self.rows[order], np.diff(marks, prepend=0.0).astype(np.int64))
        return iter(rng.permutation(drawn).tolist())
