"""The interface of a loss; fit, influence, search, bounds and certificate need nothing else.

A head gives each example C outputs ("logits") z = θ x. A loss turns them into a prediction p and defines derivatives:
the gradient of one example is the residual r = p − y times x, and its Hessian is W ⊗ x xᵀ with a C × C matrix
W = diag(a) − p pᵀ. The second part is present only if the outputs compete (softmax).
"""

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector


@dataclass(frozen=True)
class Loss(abc.ABC):
    """One way to compare outputs with targets. Arrays are chunks of k rows; `outputs` is C."""

    outputs: int
    name: ClassVar[str]
    targets: ClassVar[str]  # kind of targets, see `leanset.data.targets`
    coupled: ClassVar[bool]  # whether outputs compete, so W has the part −p pᵀ
    answers: ClassVar[str | None]  # what can be right or wrong: "examples", "labels", or None
    bound: ClassVar[float]  # largest eigenvalue that W can have anywhere

    @abc.abstractmethod
    def values(self, logits: Matrix, targets: AnyArray) -> Vector:
        """Return the (k,) losses."""

    @abc.abstractmethod
    def predicted(self, logits: AnyArray) -> Matrix:
        """Return the (k, C) predictions p in float64."""

    @abc.abstractmethod
    def residual(self, predicted: Matrix, targets: AnyArray) -> Matrix:
        """Return the (k, C) residuals p − y."""

    @abc.abstractmethod
    def diagonal(self, predicted: Matrix) -> Matrix:
        """Return the (k, C) diagonal part a of W."""

    @abc.abstractmethod
    def right(self, logits: Matrix, targets: AnyArray) -> Vector:
        """Return the correct share of each row, from 0 to 1; NaN if the loss does not define it."""

    @abc.abstractmethod
    def same(self, logits: Matrix, other: Matrix) -> Vector:
        """Return the share of each row's answers that two heads give alike, from 0 to 1; NaN if there are no answers."""

    @abc.abstractmethod
    def target_probability(self, predicted: Matrix, targets: AnyArray) -> Vector:
        """Return the (k,) probability of each row's own target; NaN where there is none."""

    def curved(self, stack: Matrix, predicted: Matrix) -> Matrix:
        """Return W z for a (k, m, C) stack of outputs."""
        pushed = stack * self.diagonal(predicted)[:, None, :]
        if self.coupled:
            p = predicted[:, None, :]
            pushed -= p * (stack * p).sum(axis=2, keepdims=True)
        return pushed

    def trace(self, predicted: Matrix) -> Vector:
        """Return the (k,) traces of W."""
        total = self.diagonal(predicted).sum(axis=1)
        return np.asarray(total - np.einsum("ij,ij->i", predicted, predicted) if self.coupled else total)

    def along(self, predicted: Matrix, basis: Matrix) -> Matrix:
        """Return uᵀ W u for each column u of a (C, C) basis: (k, C)."""
        curvature = self.diagonal(predicted) @ basis**2
        return np.asarray(curvature - (predicted @ basis) ** 2 if self.coupled else curvature)

    def l2_of(self, c: float, n: float) -> float:
        """Return the l2 that stands for scikit-learn's C (for `Ridge`, 1/alpha) on examples that count n together."""
        return 1.0 / (c * n)

    def basis(self) -> Matrix:
        """Return an orthonormal (C, p) basis of the residuals: all directions, unless outputs compete."""
        return contrasts(self.outputs) if self.coupled else np.eye(self.outputs)

    def effective(self, change: Matrix) -> Matrix:
        """Return the part of a (C, D) change of the head that changes the loss."""
        return change - change.mean(axis=0) if self.coupled else change


def contrasts(outputs: int) -> Matrix:
    """Return an orthonormal (C, C−1) basis of the vectors whose entries add up to zero."""
    steps = np.arange(1, outputs)
    basis = np.triu(np.ones((outputs, outputs - 1)))
    basis[steps, steps - 1] = -steps
    return basis / np.sqrt(steps * (steps + 1.0))
