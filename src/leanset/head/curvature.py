from dataclasses import dataclass

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset._threads import in_order, row_chunks


@dataclass(frozen=True)
class Curvature:
    """The Hessian of mean cross-entropy + (l2/2)‖θ‖² at one head, as an operator and, on demand, as a matrix.

    H = (1/n) Σ (diag p_i − p_i p_iᵀ) ⊗ x_i x_iᵀ + l2·I, a sum over rows, so every form of it is a sum over row chunks.
    """

    matrix: Matrix  # (n, D)
    probability: Matrix  # (n, C)
    l2: float

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (C, D) of a head."""
        return self.probability.shape[1], self.matrix.shape[1]

    def apply(self, stack: Matrix) -> Matrix:
        """Return H v for a (k, C, D) stack of heads; two matrix products a chunk, nothing of size C·D × C·D."""
        k, (n_classes, width) = len(stack), self.shape
        flat = np.ascontiguousarray(stack).reshape(k * n_classes, width)

        def part(chunk: slice) -> Matrix:
            x, p = self.matrix[chunk], self.probability[chunk, None, :]
            pushed = (x @ flat.T).reshape(len(x), k, n_classes) * p
            pushed -= p * pushed.sum(axis=2, keepdims=True)
            return pushed.reshape(len(x), -1).T @ x

        total = np.zeros_like(flat)
        for product in in_order(part, row_chunks(len(self.matrix), width + 2 * k * n_classes)):
            total += product
        return total.reshape(stack.shape) / len(self.matrix) + self.l2 * stack

    def hessian(self) -> Matrix:
        """Return the whole (C·D, C·D) matrix.

        The part −p pᵀ ⊗ x xᵀ is minus the Gram matrix of the rows p_i ⊗ x_i: one symmetric rank-k update a chunk,
        which runs several times faster than C² weighted products.
        """
        n_classes, width = self.shape
        size = n_classes * width

        def part(chunk: slice) -> tuple[Matrix, Matrix]:
            x, p = self.matrix[chunk], self.probability[chunk]
            outer = (p[:, :, None] * x[:, None, :]).reshape(len(x), size)
            diagonal = np.stack([outer[:, c * width : (c + 1) * width].T @ x for c in range(n_classes)])
            return outer.T @ outer, diagonal

        total, blocks = np.zeros((size, size)), np.zeros((n_classes, width, width))
        for gram, diagonal in in_order(part, row_chunks(len(self.matrix), size)):
            total -= gram
            blocks += diagonal
        view = total.reshape(n_classes, width, n_classes, width)
        for c in range(n_classes):
            view[c, :, c, :] += blocks[c]
        total /= len(self.matrix)
        total[np.diag_indices(size)] += self.l2
        return total

    def kronecker(self) -> "KroneckerFactors":
        """Return the Kronecker-eigenbasis approximation (EK-FAC: George et al. 2018) of the Hessian."""
        n_classes, width = self.shape
        n = len(self.matrix)
        class_mean = self.probability.mean(axis=0)
        class_factor = np.diag(class_mean) - self.probability.T @ self.probability / n
        class_basis = np.linalg.eigh(class_factor)[1]
        # Rows the head is sure of carry no curvature, so the feature factor weighs rows by the trace of diag p − ppᵀ.
        weight = 1.0 - np.einsum("ij,ij->i", self.probability, self.probability)
        chunks = row_chunks(n, width)
        feature_factor = np.zeros((width, width))
        for product in in_order(lambda c: (self.matrix[c] * weight[c, None]).T @ self.matrix[c], chunks):
            feature_factor += product
        feature_basis = np.linalg.eigh(feature_factor / n)[1]

        def corrected(chunk: slice) -> Matrix:
            p = self.probability[chunk]
            along = p @ class_basis**2 - (p @ class_basis) ** 2
            return np.asarray(along.T @ (self.matrix[chunk] @ feature_basis) ** 2)

        values = np.zeros((n_classes, width))
        for product in in_order(corrected, chunks):
            values += product
        return KroneckerFactors(class_basis, feature_basis, np.maximum(values / n, 0.0) + self.l2)


@dataclass(frozen=True)
class KroneckerFactors:
    """An approximate Hessian that is diagonal in the basis `class_basis ⊗ feature_basis`."""

    class_basis: Matrix  # (C, C), columns are basis vectors
    feature_basis: Matrix  # (D, D)
    eigenvalues: Matrix  # (C, D), l2 included

    def solve(self, stack: Matrix) -> Matrix:
        """Apply the approximate inverse to a (k, C, D) stack."""
        turned = self.class_basis.T @ stack @ self.feature_basis
        return self.class_basis @ (turned / self.eigenvalues) @ self.feature_basis.T

    def row_factors(self, errors: Matrix, matrix: Matrix) -> tuple[Matrix, Matrix]:
        """Return errors and features in the basis: (n, C) and (n, D); their products are gradient coordinates."""
        return errors @ self.class_basis, matrix @ self.feature_basis

    def row_norms(self, errors: Matrix, matrix: Matrix, shift: Matrix) -> Vector:
        """Return ‖H⁻¹(g_i + shift)‖ for every row, g_i = errors_i ⊗ features_i, without forming a vector."""
        turned_shift = self.class_basis.T @ shift @ self.feature_basis / self.eigenvalues
        out = np.empty(len(matrix))

        def fill(chunk: slice) -> None:
            u, v = self.row_factors(errors[chunk], matrix[chunk])
            square = np.einsum("nc,nc->n", u**2, v**2 @ (self.eigenvalues**-2).T)
            cross = np.einsum("nc,nc->n", u, v @ (turned_shift / self.eigenvalues).T)
            out[chunk] = square + 2.0 * cross + np.sum(turned_shift**2)

        list(in_order(fill, row_chunks(len(matrix), sum(self.eigenvalues.shape))))
        return np.sqrt(np.maximum(out, 0.0))
