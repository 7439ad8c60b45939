from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Matrix, Rows, Vector, Vectors32
from leanset._linalg import singular
from leanset.head import FittedHead
from leanset.influence.map import InfluenceMap
from leanset.influence.prepared import InverseHessian
from leanset.rows import map_rows, map_some_rows


@dataclass(frozen=True)
class DenseMap(InfluenceMap):
    """Influence vectors in all coordinates, from the explicit inverse.

    Gradients of competing outputs (softmax) sum to zero over the outputs, so (C−1)·D coordinates describe them and
    preserve their length, unless another metric is asked for.
    """

    head: FittedHead
    inverse: Vectors32  # (p, p), includes the factor 1/n
    basis: Matrix  # (C, p / D)
    shift: Vectors32  # (p,), the centring term
    metric: Matrix | None  # (p, p) factor L of a Hessian LLᵀ that changes are measured by; None for Euclidean length
    residual: float
    captured: float = 1.0

    def vectors(self, rows: Rows) -> Vectors32:
        """Return the (k, p) vectors of some rows."""
        columns = self.head.residual, self.head.design.worth_of_rows
        return map_some_rows(self._of_chunk, self.head.rows, rows, *columns, width=len(self.inverse))

    def total(self, weights: Vector) -> Vector:
        """Return the weighted sum of the vectors: one gradient sum and one product."""
        gradients = self.basis.T @ self.head.gradient_sum(weights, centred=False)
        total = gradients.reshape(-1) + self.head.design.total(weights) * self.shift.astype(np.float64)
        return np.asarray(total @ self.inverse.astype(np.float64))

    def coordinates(self, head: Matrix) -> Vector:
        """Return a (C, D) change of the head in these coordinates."""
        reduced = (self.basis.T @ head).reshape(-1)
        return np.asarray(reduced if self.metric is None else reduced @ self.metric)

    def norms(self) -> Vector:
        """Return the length of every row's vector."""
        of_chunk = self._of_chunk

        def lengths(x: Matrix, r: Matrix, s: Vector) -> Vector:
            part = of_chunk(x, r, s)
            return np.asarray(np.sqrt(np.einsum("ij,ij->i", part, part, dtype=np.float64)))

        columns = self.head.residual, self.head.design.worth_of_rows
        return map_rows(lengths, self.head.rows, *columns, width=len(self.inverse))

    @property
    def _of_chunk(self) -> Callable[[Matrix, Matrix, Vector], Vectors32]:
        """The vectors of a chunk of rows; without the head, which has all rows and may not be where they are computed."""
        basis, shift, inverse = self.basis, self.shift, self.inverse

        def vectors(x: Matrix, r: Matrix, s: Vector) -> Vectors32:
            errors = (r @ basis).astype(np.float32)
            features = x.astype(np.float32)
            gradients = (errors[:, :, None] * features[:, None, :]).reshape(len(x), -1)
            gradients += s[:, None].astype(np.float32) * shift
            return np.asarray(gradients @ inverse)

        return vectors


def dense_map(
    head: FittedHead, inverse: InverseHessian, shift: Matrix, scale: float, measured_by: FittedHead | None = None
) -> DenseMap:
    """Compute an inverse Hessian as a matrix and return the map that applies it to rows."""
    outputs, width = head.design.shape
    basis = head.loss.basis()
    free = basis.shape[1]
    size = free * width
    heads = (basis.T[:, None, :, None] * np.eye(width)[None, :, None, :]).reshape(size, outputs, width)
    answer = inverse.solve(heads)
    columns = np.einsum("kcd,cb->kbd", answer.solution, basis).reshape(size, size) * scale
    metric = None
    if measured_by is not None:
        try:
            metric = np.asarray(np.linalg.cholesky(measured_by.reduced_hessian), np.float64)
        except np.linalg.LinAlgError:
            raise singular(head.l2) from None
        columns = columns @ metric
    reduced_shift = (basis.T @ shift).reshape(-1)
    return DenseMap(
        head,
        np.ascontiguousarray(columns, dtype=np.float32),
        basis,
        reduced_shift.astype(np.float32),
        metric,
        answer.worst_residual,
    )
