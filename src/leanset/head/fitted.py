from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leanset._arrays import Matrix, Rows, Vector
from leanset.head.curvature import Curvature, KroneckerFactors
from leanset.head.design import Design
from leanset.head.loss import Loss
from leanset.head.penalty import MeanPenalty, Penalty
from leanset.rows import Column, RowTable, map_some_rows


@dataclass(frozen=True)
class FittedHead:
    """A fitted head and its predictions on all rows; influences and removals refer to it.

    `weights` in its methods are 0 for a removed row and 1 for a kept one; how much each row counts is the design's `worth`.
    """

    design: Design
    theta: Matrix
    l2: float
    predicted: Column
    penalty: Penalty = MeanPenalty()  # noqa: RUF009  # frozen

    @classmethod
    def at(cls, design: Design, theta: Matrix, l2: float, penalty: Penalty | None = None) -> "FittedHead":
        """Evaluate a head on its rows."""
        return cls(design, theta, l2, design.predicted(theta), penalty or MeanPenalty())

    def __len__(self) -> int:
        return len(self.design)

    @property
    def rows(self) -> RowTable:
        """The head's input rows."""
        return self.design.rows

    @property
    def loss(self) -> Loss:
        """The loss that the head minimises."""
        return self.design.loss

    @cached_property
    def residual(self) -> Column:
        """The (n, C) residuals, each as often as its row counts."""
        return self.design.residual(self.predicted)

    @property
    def norm(self) -> float:
        """‖θ̂‖."""
        return float(np.linalg.norm(self.theta))

    @property
    def free_weights(self) -> int:
        """How many weights the loss can tell apart: (C−1)·D if outputs compete, else C·D."""
        return self.design.free_weights

    @cached_property
    def penalty_slope(self) -> Matrix:
        """The gradient of the penalty at θ̂: l2·θ̂ where it is penalised, 0 elsewhere."""
        return self.design.ridge(self.l2).slope(self.theta)

    @cached_property
    def least(self) -> float:
        """What the head minimises over all rows, at its minimum."""
        return self.objective(self.theta)

    def objective(self, theta: Matrix) -> float:
        """Return what the head minimises over all rows, at any head."""
        return self.design.objective(theta, self.l2)

    def moved_to(self, theta: Matrix) -> "FittedHead":
        """Return a head with other weights on the same rows."""
        return FittedHead.at(self.design, theta, self.l2, self.penalty)

    def counting(self, weights: Vector) -> "tuple[FittedHead, Vector]":
        """Return the head on the rows of non-zero weight only, with the l2 of the problem on them, and their weights.

        The rows are gathered if they are much fewer (`Design.counting`).
        """
        (design, some), l2 = self.design.counting(weights), self.l2_on(weights)
        if design is self.design:
            return replace(self, l2=l2, penalty=MeanPenalty()), some
        return FittedHead.at(design, self.theta, l2), some

    def curvature(self, weights: Vector | None = None) -> Curvature:
        """Return the Hessian over all rows, or over weighted ones."""
        return self._curvature if weights is None else self._curvature_on(weights)

    @cached_property
    def _curvature(self) -> Curvature:
        return self._curvature_on(None)  # one object, because it remembers its Kronecker approximation

    def _curvature_on(self, weights: Vector | None) -> Curvature:
        return Curvature(self.design, self.predicted, self.l2_on(weights), weights)

    @property
    def kronecker(self) -> KroneckerFactors:
        """The Kronecker approximation of the Hessian over all rows."""
        return self.curvature().kronecker()

    @cached_property
    def reduced_hessian(self) -> Matrix:
        """The Hessian over all rows in the coordinates of the loss's basis."""
        outputs, width = self.design.shape
        basis = self.loss.basis()
        whole = self.curvature().hessian().reshape(outputs, width, outputs, width)
        reduced = np.einsum("ca,cdef,eb->adbf", basis, whole, basis, optimize=True)
        return np.asarray(reduced.reshape(basis.shape[1] * width, -1))

    def l2_on(self, weights: Vector | None) -> float:
        """Return the l2 of the problem on weighted rows."""
        return (
            self.l2 if weights is None else self.penalty.l2_on(self.l2, self.design.total(), self.design.total(weights))
        )

    def mean_gradient(self, weights: Vector) -> Matrix:
        """Return the gradient at this head of the problem on weighted rows, penalty included."""
        mean = self.gradient_sum(weights, centred=False) / self.design.total(weights)
        return mean + self.design.ridge(self.l2_on(weights)).slope(self.theta)

    def gradients(self, rows: Rows) -> Matrix:
        """Return g_i of some rows as a (k, C, D) stack; meant for small samples."""
        return map_some_rows(
            lambda x, r: r[:, :, None] * x[:, None, :], self.rows, rows, self.residual, width=self.theta.size
        )

    def gradient_sum(self, weights: Vector, *, centred: bool) -> Matrix:
        """Return Σ_i weights_i g_i, plus the penalty's slope for each row, as often as it counts, if centred."""
        total = self.design.gradient_sum(self.residual, weights)
        return total + self.design.total(weights) * self.penalty_slope if centred else total
