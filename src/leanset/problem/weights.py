"""Weights on the kept rows that leave the head where it is.

The head θ̂ of all rows stays the minimiser on weighted rows exactly when the weighted gradients still balance the penalty:
Σ w_i g_i = −n·l2·θ̂ under the total penalty, Σ w_i (g_i + l2·θ̂) = 0 under the mean penalty, with 0 in place of l2·θ̂
where nothing is penalised. A row that counts more has a gradient and a share of l2·θ̂ that are as much longer. These are as
many linear equations as the head has free weights, in as many unknowns as there are kept rows.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leanset._arrays import Matrix, Rows, Vector
from leanset.head import FittedHead, KroneckerFactors
from leanset.rows import map_rows, sum_rows


@dataclass(frozen=True)
class WeightProblem:
    """Find factors within bounds, nearest to 1, that solve the equations or come as near as they can.

    The weight of a row is its base times its factor.

    Parameters
    ----------
    head : the head of all rows, at its minimum
    base : (n,) weights to start from: 0 for removed rows, 1 for kept ones, or more where a row stands for several
    low, high : bounds of the factors
    by_loss : measure what the equations miss by the rise of the loss, gᵀH⁻¹g; else by the length of Δθ = H⁻¹g
    """

    head: FittedHead
    base: Vector
    low: float
    high: float
    by_loss: bool = True

    @cached_property
    def softener(self) -> Matrix:
        """The matrix M of the metric gᵀM⁻¹g, in the coordinates of the loss's basis: H for the loss, H² for the length."""
        hessian = self.head.reduced_hessian
        return hessian if self.by_loss else hessian @ hessian

    @cached_property
    def kept(self) -> Vector:
        """1 for each kept row, 0 for each removed one."""
        return (self.base > 0).astype(np.float64)

    @cached_property
    def _counting(self) -> tuple[FittedHead, Rows]:
        """The head on the kept rows, which dozens of passes read, and their numbers."""
        head, _ = self.head.counting(self.base)
        return head, np.arange(len(self.base)) if len(head) == len(self.head) else np.flatnonzero(self.base)

    @cached_property
    def target(self) -> Matrix:
        """The (C, D) sum that the weighted gradients must have."""
        head = self.head
        return np.zeros_like(head.theta) if head.penalty.centred else -head.design.total() * head.penalty_slope

    @cached_property
    def scale(self) -> float:
        """‖Σ base_i |v_i|‖, coordinate by coordinate: the scale that errors of the equations are measured by."""
        kept, rows = self._counting
        total = sum_rows(
            lambda x, r, w: (np.abs(r) * w[:, None]).T @ np.abs(x),
            kept.rows,
            kept.residual,
            width=kept.design.width,
            weights=self.base[rows],
        )
        return float(np.linalg.norm(total + self.head.design.total(self.base) * np.abs(self._shift)))

    @property
    def _shift(self) -> Matrix:
        head = self.head
        return head.penalty_slope if head.penalty.centred else np.zeros_like(head.theta)

    def weights(self, factors: Vector) -> Vector:
        """Return the weights that factors stand for."""
        return np.asarray(self.base * factors)

    def missing(self, factors: Vector) -> Matrix:
        """Return the (C, D) sum of the weighted gradients minus what it must be."""
        (kept, rows), weights = self._counting, self.weights(factors)
        found = kept.design.gradient_sum(kept.residual, weights[rows])
        return self.head.loss.effective(found + self.head.design.total(weights) * self._shift - self.target)

    def along(self, direction: Matrix) -> Vector:
        """Return the (n,) products of a (C, D) direction with base_i v_i; 0 for removed rows."""
        kept, rows = self._counting
        products = map_rows(
            lambda x, r: np.einsum("ic,ic->i", r, x @ direction.T),
            kept.rows,
            kept.residual,
            width=kept.design.width,
            weights=self.kept[rows],
        )
        found = np.zeros_like(self.base)
        shared = kept.design.worth_of_rows * float(np.sum(self._shift * direction))
        found[rows] = self.base[rows] * (products + shared)
        return found

    def normal_matrix(self, free: Vector) -> Matrix:
        """Return Σ_free base_i² v_i v_iᵀ as a matrix in the coordinates of the loss's basis."""
        (kept, rows), basis = self._counting, self.head.loss.basis()
        shift = (basis.T @ self._shift).reshape(-1)

        def gram(x: Matrix, r: Matrix, s: Vector, w: Vector) -> Matrix:
            vectors = ((r @ basis)[:, :, None] * x[:, None, :]).reshape(len(x), -1) + s[:, None] * shift
            vectors *= w[:, None]
            return vectors.T @ vectors

        columns, width = (kept.residual, kept.design.worth_of_rows), basis.shape[1] * kept.rows.shape[1]
        return sum_rows(gram, kept.rows, *columns, width=width, weights=(free * self.base)[rows])

    @property
    def _power(self) -> float:
        return 0.5 if self.by_loss else 1.0

    def in_basis(self, factors: KroneckerFactors, matrix: Matrix) -> Matrix:
        """Return a (C, D) sum of gradients in the eigenbasis of a Kronecker approximation, whitened by it."""
        return factors.turned(matrix) / factors.eigenvalues**self._power

    def from_basis(self, factors: KroneckerFactors, turned: Matrix) -> Matrix:
        """Return the (C, D) direction whose products with gradients are those in the whitened eigenbasis."""
        whitened = turned / factors.eigenvalues**self._power
        return factors.output_basis @ whitened @ factors.feature_basis.T
