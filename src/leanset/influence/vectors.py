"""Influence vectors of single examples, for the solver, and of whole sets, for the certificate.

Removing the set R from n examples moves the head by about Δθ = (1/(n−m)) H_K⁻¹ Σ_R (g_i + l2·θ̂), with H_K the Hessian of
the kept rows. Gradients g_i = (p_i − y_i) ⊗ x_i are rank one and their class rows add up to zero, so (C−1)·D coordinates
describe them without loss of length.
"""

import abc
from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector, Vectors32
from leanset._linalg import LinearSolution
from leanset._threads import in_order, row_chunks
from leanset.head import Curvature, Design, KroneckerFactors, probabilities
from leanset.head.softmax import error_rows, gradient_sum
from leanset.influence.cholesky import Cholesky
from leanset.influence.inverse import Inverse, InverseHessian
from leanset.influence.kronecker import Kronecker

_LARGEST_DENSE_HEAD = 3000  # C·D beyond which n·(C·D)² work on exact vectors stops being minutes
_PROBES = 16
ROWS_PER_COORDINATE = 16  # how many rows a solver should be able to move for each coordinate it has to balance


@dataclass(frozen=True)
class HeadState:
    """A fitted head on its data: what influences are taken of."""

    design: Design
    theta: Matrix
    l2: float
    probability: Matrix
    errors: Matrix

    @classmethod
    def at(cls, design: Design, theta: Matrix, l2: float) -> "HeadState":
        """Evaluate the head on its rows."""
        probability = probabilities(design, theta)
        return cls(design, theta, l2, probability, error_rows(probability, design.labels))

    def curvature(self, rows: AnyArray | None = None) -> Curvature:
        """Return the Hessian over all rows, or over some."""
        if rows is None:
            return Curvature(self.design.matrix, self.probability, self.l2)
        return Curvature(self.design.matrix[rows], self.probability[rows], self.l2)

    def gradients(self, rows: AnyArray) -> Matrix:
        """Return g_i of some rows as a (k, C, D) stack; for samples, not for all rows."""
        return self.errors[rows, :, None] * self.design.matrix[rows, None, :]

    def gradient_sum(self, rows: AnyArray, *, centred: bool) -> Matrix:
        """Return Σ over `rows` of g_i, plus l2·θ̂ each if centred."""
        total = gradient_sum(self.design.matrix[rows], self.errors[rows])
        return total + len(rows) * self.l2 * self.theta if centred else total


def influence_of_sum(
    state: HeadState, removed: Rows, inverse: InverseHessian, *, centred: bool = True
) -> LinearSolution:
    """Return the paper's linear prediction (1/n) H⁻¹ Σ_removed g_i of the change of the head, as a (1, C, D) stack."""
    rhs = state.gradient_sum(removed, centred=centred) / len(state.design)
    return inverse.solve(rhs[None])


class InfluenceMap(abc.ABC):
    """Influence vectors of rows in coordinates whose Euclidean length is (about) the length of the head's change."""

    residual: float  # relative residual of the inverse, on a sample of rows
    captured: float  # share of the squared length that the coordinates hold; 1 when they are complete

    @abc.abstractmethod
    def vectors(self, rows: AnyArray) -> Vectors32:
        """Return the (k, p) vectors of some rows."""

    @abc.abstractmethod
    def total(self, rows: AnyArray) -> Vector:
        """Return the sum of the vectors of some rows in float64, without forming them."""

    @abc.abstractmethod
    def coordinates(self, head: Matrix) -> Vector:
        """Return a (C, D) change of the head in these coordinates."""

    @abc.abstractmethod
    def norms(self) -> Vector:
        """Return the length of every row's vector."""


@dataclass(frozen=True)
class DenseMap(InfluenceMap):
    """All (C−1)·D coordinates through the explicit inverse."""

    state: HeadState
    inverse: Vectors32  # (p, p), the factor 1/n inside
    basis: Matrix  # (C, C−1)
    shift: Vectors32  # (p,), the centring term
    residual: float
    captured: float = 1.0

    def vectors(self, rows: AnyArray) -> Vectors32:
        """Return the (k, p) vectors of some rows."""
        out = np.empty((len(rows), len(self.inverse)), dtype=np.float32)

        def fill(chunk: slice) -> None:
            out[chunk] = self._chunk(rows[chunk])

        list(in_order(fill, row_chunks(len(rows), len(self.inverse))))
        return out

    def total(self, rows: AnyArray) -> Vector:
        """Return the sum of the vectors of some rows: one gradient sum and one product."""
        gradients = self.basis.T @ self.state.gradient_sum(rows, centred=False)
        total = gradients.reshape(-1) + len(rows) * self.shift.astype(np.float64)
        return np.asarray(total @ self.inverse.astype(np.float64))

    def coordinates(self, head: Matrix) -> Vector:
        """Return a (C, D) change of the head in these coordinates."""
        return (self.basis.T @ head).reshape(-1)

    def norms(self) -> Vector:
        """Return the length of every row's vector, in chunks."""
        rows = np.arange(len(self.state.design))

        def lengths(chunk: slice) -> Vector:
            part = self._chunk(rows[chunk])
            return np.asarray(np.sqrt(np.einsum("ij,ij->i", part, part, dtype=np.float64)))

        return np.concatenate(list(in_order(lengths, row_chunks(len(rows), len(self.inverse)))))

    def _chunk(self, rows: AnyArray) -> Vectors32:
        errors = (self.state.errors[rows] @ self.basis).astype(np.float32)
        features = self.state.design.matrix[rows].astype(np.float32)
        gradients = (errors[:, :, None] * features[:, None, :]).reshape(len(rows), -1)
        gradients += self.shift
        return np.asarray(gradients @ self.inverse)


@dataclass(frozen=True)
class KroneckerMap(InfluenceMap):
    """The leading coordinates of a Kronecker eigenbasis, for heads whose vectors are too long to store."""

    state: HeadState
    factors: KroneckerFactors
    classes: Rows  # (k,) class-basis index of each stored coordinate
    features: Rows  # (k,) feature-basis index
    shift: Matrix  # (C, D), turned into the basis
    scale: float
    residual: float
    captured: float

    def vectors(self, rows: AnyArray) -> Vectors32:
        """Return the leading coordinates of some rows."""
        out = np.empty((len(rows), len(self.classes)), dtype=np.float32)
        weight = self.scale / self.factors.eigenvalues[self.classes, self.features]
        shift = self.shift[self.classes, self.features]

        def fill(chunk: slice) -> None:
            u, v = self.factors.row_factors(self.state.errors[rows[chunk]], self.state.design.matrix[rows[chunk]])
            out[chunk] = (u[:, self.classes] * v[:, self.features] + shift) * weight

        list(in_order(fill, row_chunks(len(rows), len(self.classes))))
        return out

    def total(self, rows: AnyArray) -> Vector:
        """Return the leading coordinates of the sum over some rows."""
        gradients = self.state.gradient_sum(rows, centred=False)
        turned = self.factors.class_basis.T @ gradients @ self.factors.feature_basis + len(rows) * self.shift
        whole = self.scale * turned / self.factors.eigenvalues
        return np.asarray(whole[self.classes, self.features])

    def coordinates(self, head: Matrix) -> Vector:
        """Return the leading coordinates of a (C, D) change of the head."""
        turned = self.factors.class_basis.T @ head @ self.factors.feature_basis
        return np.asarray(turned[self.classes, self.features])

    def norms(self) -> Vector:
        """Return the approximate length of every row's whole vector."""
        shift = self.factors.class_basis @ self.shift @ self.factors.feature_basis.T
        return self.scale * self.factors.row_norms(self.state.errors, self.state.design.matrix, shift)


def choose_inverse(shape: tuple[int, int], memory: int) -> Inverse:
    """Choose the exact inverse while its matrix fits `memory` bytes and its work is minutes, else Kronecker.

    Examples
    --------
    >>> choose_inverse((10, 65), 2**30), choose_inverse((1000, 2049), 2**30)
    (Cholesky(), Kronecker(directions=4096))
    """
    size = shape[0] * shape[1]
    if size <= _LARGEST_DENSE_HEAD and dense_bytes(size) <= memory:
        return Cholesky()
    # Balancing k coordinates well takes some 16·k rows of k float32 numbers.
    return Kronecker(directions=max(1, int(np.sqrt(memory / (4 * ROWS_PER_COORDINATE)))))


def dense_bytes(size: int) -> int:
    """Return the memory that exact vectors of a head with `size` weights need: four matrices of float64."""
    return 4 * 8 * size**2


def influence_map(
    state: HeadState,
    inverse: Inverse,
    *,
    centred: bool = True,
    kept: Rows | None = None,
    prepared: InverseHessian | None = None,
) -> InfluenceMap:
    """Prepare the influence vectors of single rows.

    Parameters
    ----------
    state : the fitted head
    inverse : how to invert the Hessian
    centred : add l2·θ̂ to each gradient, so that the vectors of all rows add up to zero
    kept : rows whose Hessian (and number, as divisor) to use; all rows if None
    prepared : the inverse made ready for that Hessian, where the caller has it already
    """
    scale = 1.0 / (len(state.design) if kept is None else len(kept))
    shift = state.l2 * state.theta if centred else np.zeros_like(state.theta)
    curvature = state.curvature(kept)
    if isinstance(inverse, Kronecker):
        return _kronecker_map(state, curvature, inverse, shift, scale)
    return _dense_map(state, prepared or inverse.prepare(curvature), shift, scale)


def _dense_map(state: HeadState, inverse: InverseHessian, shift: Matrix, scale: float) -> DenseMap:
    n_classes, width = state.design.shape
    basis = contrasts(n_classes)
    size = (n_classes - 1) * width
    heads = (basis.T[:, None, :, None] * np.eye(width)[None, :, None, :]).reshape(size, n_classes, width)
    answer = inverse.solve(heads)
    columns = np.einsum("kcd,cb->kbd", answer.solution, basis).reshape(size, size) * scale
    reduced_shift = (basis.T @ shift).reshape(-1)
    return DenseMap(
        state,
        np.ascontiguousarray(columns, dtype=np.float32),
        basis,
        reduced_shift.astype(np.float32),
        answer.worst_residual,
    )


def _kronecker_map(
    state: HeadState, curvature: Curvature, inverse: Kronecker, shift: Matrix, scale: float
) -> KroneckerMap:
    factors = curvature.kronecker()
    turned_shift = factors.class_basis.T @ shift @ factors.feature_basis
    second_moment = np.zeros(curvature.shape)

    def part(chunk: slice) -> Matrix:
        u, v = factors.row_factors(state.errors[chunk], state.design.matrix[chunk])
        return (u**2).T @ v**2

    for product in in_order(part, row_chunks(len(state.design), sum(curvature.shape))):
        second_moment += product
    energy = (second_moment / len(state.design) + turned_shift**2) / factors.eigenvalues**2
    leading = np.argsort(-energy, axis=None, kind="stable")[: inverse.directions]
    classes, features = np.unravel_index(np.sort(leading), energy.shape)
    probes = np.linspace(0, len(state.design) - 1, _PROBES).astype(np.int64)
    residual = inverse.prepare(curvature).solve(state.gradients(probes) + shift).worst_residual
    captured = float(energy[classes, features].sum() / energy.sum())
    return KroneckerMap(state, factors, classes, features, turned_shift, scale, residual, captured)


def contrasts(n_classes: int) -> Matrix:
    """Return an orthonormal (C, C−1) basis of the vectors whose entries add up to zero."""
    steps = np.arange(1, n_classes)
    basis = np.triu(np.ones((n_classes, n_classes - 1)))
    basis[steps, steps - 1] = -steps
    return basis / np.sqrt(steps * (steps + 1.0))
