from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from leanset._arrays import Matrix, Rows, Vector
from leanset.head.design import Design
from leanset.head.loss import Loss
from leanset.head.ridge import Ridge
from leanset.rows import Column, RowTable, map_rows, some_entries, sum_rows

_LEAST = 1e-15  # smallest eigenvalue of an approximation, relative to the largest


@dataclass(frozen=True)
class Curvature:
    """The Hessian of mean loss + penalty at one head, as an operator and, on demand, as a matrix.

    H = Σ w_i W_i ⊗ x_i x_iᵀ / Σ w_i, a sum over rows, + l2·I on what is penalised; the loss defines the C × C matrices
    W_i, and the weights w_i are the design's worth of each row times `weights`, 1 if there are none.
    """

    design: Design
    predicted: Column  # (n, C)
    l2: float
    weights: Vector | None = None  # (n,)

    @property
    def loss(self) -> Loss:
        """The loss that the head minimises."""
        return self.design.loss

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (C, D) of a head."""
        return self.design.shape

    @cached_property
    def ridge(self) -> Ridge:
        """The penalty."""
        return self.design.ridge(self.l2)

    @property
    def rows_that_count(self) -> Rows:
        """Numbers of the rows with non-zero weight."""
        return np.arange(len(self.design)) if self.weights is None else np.flatnonzero(self.weights)

    @cached_property
    def _counts(self) -> Vector | None:
        return self.design.counts(self.weights)

    @property
    def _total(self) -> float:
        return self.design.total(self.weights)

    def apply(self, stack: Matrix) -> Matrix:
        """Return H v for a (k, C, D) stack of heads; two matrix products per chunk, no C·D × C·D matrix."""
        k, (outputs, width), loss = len(stack), self.shape, self.loss
        flat = np.ascontiguousarray(stack).reshape(k * outputs, width)

        def part(x: Matrix, p: Matrix, w: Vector | None = None) -> Matrix:
            pushed = loss.curved((x @ flat.T).reshape(len(x), k, outputs), p)
            if w is not None:
                pushed *= w[:, None, None]
            return pushed.reshape(len(x), -1).T @ x

        total = self._summed(part, width + 2 * k * outputs)
        return np.asarray(total.reshape(stack.shape) / self._total + self.ridge.slope(stack))

    def hessian(self) -> Matrix:
        """Return the full (C·D, C·D) matrix, computed once."""
        return self._hessian

    @cached_property
    def _hessian(self) -> Matrix:
        """The matrix, which is shared and may not be written to.

        The part −p pᵀ ⊗ x xᵀ is minus the Gram matrix of the rows p_i ⊗ x_i: one symmetric rank-k update per chunk,
        several times faster than C² weighted products.
        """
        (outputs, width), loss = self.shape, self.loss
        size = outputs * width

        def part(x: Matrix, p: Matrix, w: Vector | None = None) -> tuple[Matrix, ...]:
            diagonal = loss.diagonal(p)
            if w is not None:  # the square root of each weight on both sides of the product
                x = x * np.sqrt(w)[:, None]
            if not loss.coupled:
                return (np.stack([(diagonal[:, c, None] * x).T @ x for c in range(outputs)]),)
            outer = (p[:, :, None] * x[:, None, :]).reshape(len(x), size)
            # The diagonal part of a coupled loss is p itself, so its weighted rows are already computed.
            return np.stack([outer[:, c * width : (c + 1) * width].T @ x for c in range(outputs)]), outer.T @ outer

        blocks, *gram = self._summed(part, size)
        total = np.negative(gram[0], out=gram[0]) if gram else np.zeros((size, size))
        view = total.reshape(outputs, width, outputs, width)
        for c in range(outputs):
            view[c, :, c, :] += blocks[c]
        total /= self._total
        self.ridge.add_to(total)
        total.flags.writeable = False
        return np.asarray(total)

    def sample(self, rows: Rows) -> "Curvature":
        """Return the Hessian over a copy of some rows with their weights."""
        weights = None if self.weights is None else self.weights[rows]
        return Curvature(
            self.design.sample(rows), some_entries(self.predicted, self.design.rows, rows), self.l2, weights
        )

    def every(self, stride: int) -> "Curvature":
        """Return the Hessian over each `stride`-th of the rows that count; itself if that is all of them."""
        return self if stride <= 1 else self.sample(self.rows_that_count[::stride])

    def batch(self, size: int, rng: np.random.Generator) -> "Curvature":
        """Return the Hessian over rows drawn with replacement, each as often as its weight says on average."""
        rows, counts = self.rows_that_count, self._counts
        even = counts is None or np.ptp(counts[rows]) == 0
        chances = None if even or counts is None else counts[rows] / counts[rows].sum()
        drawn = self.sample(rng.choice(rows, size, p=chances))
        return replace(drawn, design=replace(drawn.design, worth=None), weights=None)

    def kronecker(self) -> "KroneckerFactors":
        """Return the Kronecker-eigenbasis approximation (EK-FAC: George et al. 2018) of the Hessian, computed once."""
        return self._kronecker

    @cached_property
    def _kronecker(self) -> "KroneckerFactors":
        width, total, loss = self.shape[1], self._total, self.loss

        def outer(x: Matrix, p: Matrix, w: Vector | None = None) -> tuple[Matrix, ...]:
            diagonal, weighted = loss.diagonal(p), p if w is None else p * w[:, None]
            sums = (diagonal.sum(axis=0) if w is None else w @ diagonal,)
            return (*sums, weighted.T @ p) if loss.coupled else sums

        diagonal, *squares = self._summed(outer, self.design.width)
        output_factor = np.diag(diagonal / total)
        if squares:
            output_factor -= squares[0] / total
        output_basis = np.linalg.eigh(output_factor)[1]

        # Rows that the head is sure of have no curvature, so the feature factor weights rows by the trace of W.
        def moments(x: Matrix, p: Matrix, w: Vector | None = None) -> Matrix:
            trace = loss.trace(p) if w is None else loss.trace(p) * w
            return (x * trace[:, None]).T @ x

        feature_basis = np.linalg.eigh(self._summed(moments, width) / total)[1]

        def corrected(x: Matrix, p: Matrix, w: Vector | None = None) -> Matrix:
            along = loss.along(p, output_basis)
            return np.asarray((along if w is None else along * w[:, None]).T @ (x @ feature_basis) ** 2)

        values = np.maximum(self._summed(corrected, width) / total, 0.0) + self.ridge.along(output_basis, feature_basis)
        # Where the penalty is not, a head that is sure of every row may leave no curvature in float64.
        return KroneckerFactors(output_basis, feature_basis, np.maximum(values, _LEAST * values.max()))

    def _summed(self, part: Callable[..., Any], width: int) -> Any:
        return sum_rows(part, self.design.rows, self.predicted, width=width, weights=self._counts)


@dataclass(frozen=True)
class KroneckerFactors:
    """An approximate Hessian that is diagonal in the basis `output_basis ⊗ feature_basis`."""

    output_basis: Matrix  # (C, C), columns are basis vectors
    feature_basis: Matrix  # (D, D)
    eigenvalues: Matrix  # (C, D), the penalty's included

    def turned(self, stack: Matrix) -> Matrix:
        """Return the coordinates of (…, C, D) heads in the basis."""
        return self.output_basis.T @ stack @ self.feature_basis

    def solve(self, stack: Matrix) -> Matrix:
        """Apply the approximate inverse to a (k, C, D) stack."""
        return self.output_basis @ (self.turned(stack) / self.eigenvalues) @ self.feature_basis.T

    def row_factors(self, residual: Matrix, x: Matrix) -> tuple[Matrix, Matrix]:
        """Return (k, C) residuals and (k, D) features in the basis; their products are the coordinates of the gradients."""
        return residual @ self.output_basis, x @ self.feature_basis

    def row_norms(self, rows: RowTable, residual: Column, worth: Vector, shift: Matrix, power: float = 1.0) -> Vector:
        """Return ‖H^(−power)(g_i + worth_i·shift)‖ for every row, g_i = residual_i ⊗ x_i, without computing the vectors."""
        divisors = self.eigenvalues**power
        turned_shift = self.turned(shift) / divisors

        def squared(x: Matrix, r: Matrix, s: Vector) -> Vector:
            u, v = self.row_factors(r, x)
            square = np.einsum("nc,nc->n", u**2, v**2 @ (divisors**-2).T)
            cross = np.einsum("nc,nc->n", u, v @ (turned_shift / divisors).T)
            return np.asarray(square + 2.0 * s * cross + s**2 * np.sum(turned_shift**2))

        lengths = map_rows(squared, rows, residual, worth, width=sum(self.eigenvalues.shape))
        return np.asarray(np.sqrt(np.maximum(lengths, 0.0)))
