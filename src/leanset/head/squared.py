from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.head.loss import Loss


@dataclass(frozen=True)
class Squared(Loss):
    """Half the squared error, summed over the numbers of an example: ridge regression.

    Examples
    --------
    >>> Squared(1).values(np.array([[3.0]]), np.array([[1.0]]))
    array([2.])
    """

    name: ClassVar[str] = "squared"
    targets: ClassVar[str] = "numbers"
    coupled: ClassVar[bool] = False
    answers: ClassVar[str | None] = None
    bound: ClassVar[float] = 1.0

    def values(self, logits: Matrix, targets: AnyArray) -> Vector:
        """Return ½‖z − y‖²."""
        return np.asarray(0.5 * np.square(logits - targets).sum(axis=1))

    def predicted(self, logits: AnyArray) -> Matrix:
        """Return the outputs unchanged."""
        return np.asarray(logits, dtype=np.float64)

    def residual(self, predicted: Matrix, targets: AnyArray) -> Matrix:
        """Return z − y."""
        return np.asarray(predicted - targets)

    def diagonal(self, predicted: Matrix) -> Matrix:
        """Return ones."""
        return np.ones_like(predicted)

    def right(self, logits: Matrix, targets: AnyArray) -> Vector:
        """Return NaN: a number is more or less close, not right or wrong."""
        return np.full(len(logits), np.nan)

    def same(self, logits: Matrix, other: Matrix) -> Vector:
        """Return NaN: numbers are close, not the same."""
        return np.full(len(logits), np.nan)

    def target_probability(self, predicted: Matrix, targets: AnyArray) -> Vector:
        """Return NaN: numbers have an error, not a probability."""
        return np.full(len(predicted), np.nan)
