from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.head.loss import Loss


@dataclass(frozen=True)
class Softmax(Loss):
    """Cross-entropy of one class out of C.

    Examples
    --------
    >>> Softmax(2).predicted(np.array([[1000.0, 1000.0]]))
    array([[0.5, 0.5]])
    """

    name: ClassVar[str] = "softmax"
    targets: ClassVar[str] = "classes"
    coupled: ClassVar[bool] = True
    answers: ClassVar[str | None] = "examples"
    bound: ClassVar[float] = 0.5  # Böhning 1992: diag p − p pᵀ ⪯ ½(I − 11ᵀ/C)

    def values(self, logits: Matrix, targets: AnyArray) -> Vector:
        """Return −log p of the true classes."""
        shifted = logits - logits.max(axis=1, keepdims=True)
        picked = np.take_along_axis(shifted, targets[:, None], axis=1)[:, 0]
        return np.asarray(np.log(np.exp(shifted).sum(axis=1)) - picked)

    def predicted(self, logits: AnyArray) -> Matrix:
        """Return the class probabilities."""
        powers = np.array(logits, dtype=np.float64)
        powers -= powers.max(axis=1, keepdims=True)
        np.exp(powers, out=powers)
        powers /= powers.sum(axis=1, keepdims=True)
        return powers

    def residual(self, predicted: Matrix, targets: AnyArray) -> Matrix:
        """Return p − 1 for the true class and p for the others."""
        errors = predicted.copy()
        errors[np.arange(len(errors)), targets] -= 1.0
        return errors

    def diagonal(self, predicted: Matrix) -> Matrix:
        """Return p."""
        return predicted

    def trace(self, predicted: Matrix) -> Vector:
        """Return 1 − ‖p‖², since probabilities sum to 1."""
        return np.asarray(1.0 - np.einsum("ij,ij->i", predicted, predicted))

    def curved(self, stack: Matrix, predicted: Matrix) -> Matrix:
        """Return p∘z − p (p·z)."""
        p = predicted[:, None, :]
        pushed = stack * p
        pushed -= p * pushed.sum(axis=2, keepdims=True)
        return pushed

    def l2_of(self, c: float, n: float) -> float:
        """Return 1/(C·n); twice that for two classes, where scikit-learn has one row w and this head has two, ±w/2."""
        return super().l2_of(c, n) * (2.0 if self.outputs == 2 else 1.0)

    def right(self, logits: Matrix, targets: AnyArray) -> Vector:
        """Return 1 if the true class has the largest output, else 0."""
        return np.asarray(logits.argmax(axis=1) == targets, dtype=np.float64)

    def same(self, logits: Matrix, other: Matrix) -> Vector:
        """Return 1 if both have their largest output at the same class, else 0."""
        return np.asarray(logits.argmax(axis=1) == other.argmax(axis=1), dtype=np.float64)

    def target_probability(self, predicted: Matrix, targets: AnyArray) -> Vector:
        """Return p of the true classes."""
        return np.asarray(predicted[np.arange(len(predicted)), targets])
