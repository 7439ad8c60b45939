from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.head.loss import Loss


@dataclass(frozen=True)
class Sigmoid(Loss):
    """Binary cross-entropy summed over labels; labels do not compete, so an example may have any number of them.

    Examples
    --------
    >>> Sigmoid(1).values(np.array([[0.0]]), np.array([[1.0]])).round(4)
    array([0.6931])
    """

    name: ClassVar[str] = "sigmoid"
    targets: ClassVar[str] = "labels"
    coupled: ClassVar[bool] = False
    answers: ClassVar[str | None] = "labels"
    bound: ClassVar[float] = 0.25  # p(1 − p)

    def values(self, logits: Matrix, targets: AnyArray) -> Vector:
        """Return log(1 + exp(∓z)), summed over the labels."""
        return np.asarray(np.logaddexp(0.0, np.where(targets > 0, -logits, logits)).sum(axis=1))

    def predicted(self, logits: AnyArray) -> Matrix:
        """Return the probability of each label."""
        return np.asarray(np.exp(-np.logaddexp(0.0, -np.asarray(logits, dtype=np.float64))))

    def residual(self, predicted: Matrix, targets: AnyArray) -> Matrix:
        """Return p − y."""
        return np.asarray(predicted - targets)

    def diagonal(self, predicted: Matrix) -> Matrix:
        """Return p(1 − p)."""
        return predicted * (1.0 - predicted)

    def right(self, logits: Matrix, targets: AnyArray) -> Vector:
        """Return the share of an example's labels that are correct."""
        return np.asarray(((logits > 0) == (targets > 0)).mean(axis=1))

    def same(self, logits: Matrix, other: Matrix) -> Vector:
        """Return the share of labels that both predict or both do not."""
        return self.right(logits, other)

    def target_probability(self, predicted: Matrix, targets: AnyArray) -> Vector:
        """Return the product of the probabilities of the labels."""
        return np.asarray(np.where(targets > 0, predicted, 1.0 - predicted).prod(axis=1))
