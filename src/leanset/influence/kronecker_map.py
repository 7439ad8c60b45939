from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leanset._arrays import Matrix, Rows, Vector, Vectors32
from leanset._linalg import LinearSolution, relative_residual
from leanset.head import Curvature, FittedHead, KroneckerFactors
from leanset.influence.map import InfluenceMap
from leanset.rows import map_some_rows, sum_rows

_PROBES = 4  # number of rows whose residual is measured


@dataclass(frozen=True)
class KroneckerMap(InfluenceMap):
    """Influence vectors in the leading coordinates of a Kronecker eigenbasis, for heads too large for all coordinates."""

    head: FittedHead
    factors: KroneckerFactors
    outputs: Rows  # (k,) output-basis index of each stored coordinate
    features: Rows  # (k,) feature-basis index
    shift: Matrix  # (C, D), in the basis
    scale: float
    power: float  # of the eigenvalues that gradients are divided by: 1 for Euclidean length, ½ for the rise of the loss
    captured: float
    weights: Vector | None  # of the rows, for the Hessian

    @cached_property
    def residual(self) -> float:  # type: ignore[override]
        """Largest relative residual on a few rows; measured when it is asked for, because that takes a pass."""
        head, probes = self.head, np.linspace(0, len(self.head) - 1, _PROBES).astype(np.int64)
        shift = self.factors.output_basis @ self.shift @ self.factors.feature_basis.T
        stack = head.gradients(probes) + head.design.worth_of_rows[probes, None, None] * shift
        return solved_by(self.factors, head.curvature(self.weights), stack).worst_residual

    def vectors(self, rows: Rows) -> Vectors32:
        """Return the leading coordinates of some rows."""
        weight = self.scale / self._divisors[self.outputs, self.features]
        shift = self.shift[self.outputs, self.features]
        factors, outputs, features = self.factors, self.outputs, self.features

        def leading(x: Matrix, r: Matrix, s: Vector) -> Vectors32:
            u, v = factors.row_factors(r, x)
            return ((u[:, outputs] * v[:, features] + s[:, None] * shift) * weight).astype(np.float32)

        columns = self.head.residual, self.head.design.worth_of_rows
        return map_some_rows(leading, self.head.rows, rows, *columns, width=len(self.outputs))

    def total(self, weights: Vector) -> Vector:
        """Return the leading coordinates of the weighted sum."""
        gradients = self.head.gradient_sum(weights, centred=False)
        whole = (
            self.scale
            * (self.factors.turned(gradients) + self.head.design.total(weights) * self.shift)
            / self._divisors
        )
        return np.asarray(whole[self.outputs, self.features])

    def coordinates(self, head: Matrix) -> Vector:
        """Return the leading coordinates of a (C, D) change of the head."""
        turned = self.factors.turned(head) * self.factors.eigenvalues ** (1.0 - self.power)
        return np.asarray(turned[self.outputs, self.features])

    def norms(self) -> Vector:
        """Return the approximate length of every row's complete vector."""
        shift = self.factors.output_basis @ self.shift @ self.factors.feature_basis.T
        head, worth = self.head, self.head.design.worth_of_rows
        return self.scale * self.factors.row_norms(head.rows, head.residual, worth, shift, self.power)

    @property
    def _divisors(self) -> Matrix:
        return self.factors.eigenvalues**self.power


def kronecker_map(
    head: FittedHead,
    weights: Vector | None,
    directions: int,
    shift: Matrix,
    scale: float,
    power: float,
) -> KroneckerMap:
    """Find the coordinates in which single rows move the head most, and map rows to them."""
    factors = head.curvature(weights).kronecker()
    turned_shift = factors.turned(shift)

    def squares(x: Matrix, r: Matrix) -> Matrix:
        u, v = factors.row_factors(r, x)
        return (u**2).T @ v**2

    second_moment = sum_rows(squares, head.rows, head.residual, width=head.design.width)
    worth = head.design.worth_of_rows
    energy = (second_moment / len(head) + np.mean(worth**2) * turned_shift**2) / factors.eigenvalues ** (2 * power)
    leading = np.argsort(-energy, axis=None, kind="stable")[:directions]
    outputs, features = np.unravel_index(np.sort(leading), energy.shape)
    captured = float(energy[outputs, features].sum() / energy.sum())
    return KroneckerMap(head, factors, outputs, features, turned_shift, scale, power, captured, weights)


def solved_by(factors: KroneckerFactors, curvature: Curvature, stack: Matrix) -> LinearSolution:
    """Apply the approximate inverse to a (k, C, D) stack, and measure the residual against the true Hessian."""
    solution = factors.solve(stack)
    return LinearSolution(solution, relative_residual(curvature.apply, solution, stack), 0)
