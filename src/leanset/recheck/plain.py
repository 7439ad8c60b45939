"""A second implementation of gradients, curvature and fit, directly from the formulas.

It shares nothing with the rest of leanset, so it detects mistakes in the fit, the influences or the solver.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import solve
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.data import Features, chosen_rows, feature_blocks
from leanset.recheck.plain_losses import PlainLoss

LARGEST_DENSE = 800  # weights of a head up to which its Hessian is a matrix
_MOST_STEPS = 60
_FIRM = (
    1e-9  # least curvature, in the units of the features, at which a Hessian has a Cholesky factor in spite of rounding
)


@dataclass(frozen=True)
class Fit:
    """A fitted head, and the length of the last Newton step, which is about how far it may be from the minimum."""

    theta: Matrix
    error: float


@dataclass(frozen=True)
class PlainProblem:
    """Mean loss + (l2/2)‖θ‖² on a (n, D) design, with or without its last column, the bias, in the penalty."""

    loss: PlainLoss
    x: "Matrix | PlainRows"
    y: AnyArray
    outputs: int
    l2: float
    weights: Vector | None = None
    penalise_bias: bool = True

    def part(self, rows: AnyArray, l2: float | None = None, weights: Vector | None = None) -> "PlainProblem":
        """Return the problem on some rows, with another l2 and with other weights if they are given."""
        if weights is None and self.weights is not None:
            weights = self.weights[rows]
        return replace(self, x=self.x[rows], y=self.y[rows], l2=self.l2 if l2 is None else l2, weights=weights)

    @property
    def ridge(self) -> Vector:
        """The l2 of each column."""
        return np.append(np.full(self.x.shape[1] - 1, self.l2), self.l2 if self.penalise_bias else 0.0)

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(len(self.x) if self.weights is None else self.weights.sum())

    def mean_loss(self, theta: Matrix) -> float:
        """Return the (weighted) mean of the losses."""
        return self.mean(self.losses(theta))

    def mean(self, values: Vector) -> float:
        """Return the (weighted) mean of one value for each row."""
        return float(np.average(values, weights=self.weights))

    def losses(self, theta: Matrix) -> Vector:
        """Return the losses of the rows."""
        return self.loss.values(self.x @ theta.T, self.y)

    def gap(self, before: Matrix, after: Matrix) -> float:
        """Return how much the mean loss rises from one head to another."""
        return self.mean(self.losses(after) - self.losses(before))

    def gradient_sum(self, theta: Matrix) -> Matrix:
        """Return the sum of the gradients of the rows, without the penalty."""
        errors = self.loss.errors(self.x @ theta.T, self.y)
        return np.asarray((errors if self.weights is None else errors * self.weights[:, None]).T @ self.x)

    def slope(self, theta: Matrix) -> float:
        """Return the norm of the gradient of the mean loss."""
        return float(np.linalg.norm(self.gradient_sum(theta) / self.total))

    def objective(self, theta: Matrix) -> float:
        """Return what the head minimises."""
        return self.mean_loss(theta) + 0.5 * float(np.sum(self.ridge * theta**2))

    def gradient(self, theta: Matrix) -> Matrix:
        """Return the gradient of the objective."""
        return np.asarray(self.gradient_sum(theta) / self.total + self.ridge * theta)

    def rounding(self, theta: Matrix) -> float:
        """Return the norm that rounding leaves of the gradient at the minimum, about."""
        errors = np.linalg.norm(self.loss.errors(self.x @ theta.T, self.y), axis=1)
        return 1e-15 * self.mean(errors * self.lengths)

    @property
    def lengths(self) -> Vector:
        """The length of each row."""
        return np.concatenate([np.linalg.norm(block, axis=1) for _, block in blocks_in(self.x)])

    def fit(self, near: Matrix | None = None) -> Fit:
        """Fit with L-BFGS from zero, unless a head nearby is known; then take Newton steps until they end in rounding."""
        theta = self._roughly() if near is None else near
        step = last = np.inf
        for _ in range(_MOST_STEPS):
            direction = self.solved(theta, self.gradient(theta)).reshape(theta.shape)
            step = float(np.linalg.norm(direction))
            theta, whole = self._stepped(theta, direction)
            small = step <= 1e-6 * float(np.linalg.norm(theta))
            if whole and (step <= 1e-13 * float(np.linalg.norm(theta)) or (small and step > 0.5 * last)):
                break
            last = step
        return Fit(theta, step)

    def _stepped(self, theta: Matrix, direction: Matrix) -> tuple[Matrix, bool]:
        """Return the head after a Newton step that is shortened until the objective falls, and whether it was a whole one."""
        value, slope, length = self.objective(theta), float(np.sum(self.gradient(theta) * direction)), 1.0
        while length > 1e-12:
            reached = theta - length * direction
            # A decrease below the rounding of the objective cannot be seen; there the whole step is right.
            if self.objective(reached) <= value - 1e-4 * length * slope or slope <= 1e-13 * abs(value):
                return np.asarray(reached), length == 1.0
            length /= 2
        return theta, True

    def _roughly(self) -> Matrix:
        def objective(flat: Matrix) -> tuple[float, Matrix]:
            theta = unit * flat.reshape(self.outputs, -1)
            return self.objective(theta) / square, (unit * self.gradient(theta)).ravel() / square

        # The tolerances below are absolute, so the head is measured in the units of the targets and of the features.
        square, start = self.loss.unit(self.y) ** 2, np.zeros(self.outputs * self.x.shape[1])
        unit = np.sqrt(square) / self._sizes
        options = {"maxiter": 500, "ftol": 1e-14, "gtol": 1e-7, "maxcor": 50}
        answer = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
        return np.asarray(unit * answer.x.reshape(self.outputs, -1))

    def newton_length(self, theta: Matrix) -> float:
        """Return the length of one Newton step from a head."""
        return float(np.linalg.norm(self.solved(theta, self.gradient(theta))))

    def solved(self, theta: Matrix, rhs: Matrix) -> Vector:
        """Return H⁻¹ rhs in the units of the features: of a small head with the matrix, else by conjugate gradients."""
        scaled = (rhs / self._sizes).ravel()
        if theta.size <= LARGEST_DENSE:
            matrix = self._hessian(theta)
            firm = (self.ridge / self._sizes**2).min() > _FIRM
            answer = solve(matrix, scaled, assume_a="pos") if firm else np.linalg.lstsq(matrix, scaled, rcond=None)[0]
        else:
            operator = LinearOperator((theta.size, theta.size), matvec=self._product(theta), dtype=np.float64)
            answer = cg(operator, scaled, rtol=1e-10, maxiter=10 * theta.size)[0]
        return np.asarray((answer.reshape(theta.shape) / self._sizes).ravel())

    def influence_norms(self, theta: Matrix, shift: Matrix) -> tuple[Vector, Vector]:
        """Return ‖H⁻¹ w_i (g_i + shift)‖ / Σw for each row, and the largest that it could be by ‖H⁻¹‖; for a small head."""
        z, n = self.x @ theta.T, len(self.x)
        errors, sizes = self.loss.errors(z, self.y), np.tile(self._sizes, self.outputs)
        inverse = np.linalg.pinv(self._hessian(theta), hermitian=True) / (sizes * sizes[:, None])
        norms, most, largest = np.zeros(n), np.zeros(n), np.linalg.norm(inverse, 2)
        for part, block in blocks_in(self.x, 2048):
            gradients = (errors[part, :, None] * block[:, None, :] + shift).reshape(-1, theta.size)
            norms[part] = np.linalg.norm(gradients @ inverse, axis=1)
            most[part] = np.linalg.norm(gradients, axis=1) * largest
        worth = (1.0 if self.weights is None else self.weights) / self.total
        return worth * norms, worth * most

    @cached_property
    def _sizes(self) -> Vector:
        """About the root of the curvature along each column; squared where 1e160 does not overflow."""
        peak, squares = _peaks(block for _, block in blocks_in(self.x)), np.zeros(self.x.shape[1])
        for _, block in blocks_in(self.x):
            squares += np.sum((block / peak) ** 2, axis=0)
        sizes = np.hypot(peak * np.sqrt(squares / len(self.x)), np.sqrt(self.ridge))
        return np.where(sizes > 0, sizes, 1.0)

    def _hessian(self, theta: Matrix) -> Matrix:
        """Return the Hessian in the units of the features as a (C·D, C·D) matrix."""
        outputs, width = theta.shape
        weights = np.full(len(self.x), 1.0) if self.weights is None else self.weights
        blocks = np.zeros((outputs, width, outputs, width))
        for part, block in blocks_in(self.x):
            z, x = block @ theta.T, block / self._sizes
            for output in range(outputs):
                along = np.zeros_like(z)
                along[:, output] = weights[part] / self.total
                for other, factor in enumerate(self.loss.curved(z, along).T):
                    blocks[other, :, output] += (x * factor[:, None]).T @ x
        matrix = blocks.reshape(theta.size, theta.size)
        matrix[np.diag_indices(theta.size)] += np.tile(self.ridge / self._sizes**2, outputs)
        return matrix

    def _product(self, theta: Matrix) -> Callable[[Matrix], Matrix]:
        z, sizes = self.x @ theta.T, self._sizes

        def product(flat: Matrix) -> Matrix:
            moved = flat.reshape(theta.shape) / sizes
            pushed = self.loss.curved(z, self.x @ moved.T)
            if self.weights is not None:
                pushed = pushed * self.weights[:, None]
            pushed = pushed.T @ self.x / self.total + self.ridge * moved
            # Without a penalty H would be singular along what no loss sees; answers have no part there.
            return np.asarray((pushed + np.where(self.ridge == 0, self.loss.unseen(moved), 0.0)) / sizes).ravel()

        return product


class PlainRows:
    """A design whose features are not in memory: products with it are made block by block."""

    __array_ufunc__ = None  # NumPy then leaves products to this class

    def __init__(self, features: Features, mean: Vector, spread: Vector, bias: float) -> None:
        self.features, self.mean, self.spread, self.bias = features, mean, spread, bias
        self.shape = (len(features), len(mean) + 1)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: AnyArray) -> "PlainRows":
        places = np.flatnonzero(rows) if rows.dtype == bool else rows
        return PlainRows(chosen_rows(self.features, places), self.mean, self.spread, self.bias)

    def __matmul__(self, right: Matrix) -> Matrix:
        return np.concatenate([block @ right for block in self.blocks()])

    def __rmatmul__(self, left: Matrix) -> Matrix:
        total = np.zeros((len(left), self.shape[1]))
        for part, block in blocks_in(self):
            total += left[:, part] @ block
        return total

    def blocks(self) -> Iterator[Matrix]:
        """Yield the scaled features with the bias, block by block."""
        for raw in feature_blocks(self.features):
            scaled = (raw.astype(np.float64) - self.mean) / self.spread
            yield np.hstack([scaled, np.full((len(scaled), 1), self.bias)])


def blocks_in(x: Matrix | PlainRows, most: int | None = None) -> Iterator[tuple[slice, Matrix]]:
    """Yield the rows of a design in blocks of at most `most` rows, with their places; an array is one block if None."""
    start = 0
    for block in [x] if isinstance(x, np.ndarray) else x.blocks():
        for first in range(0, len(block), most or max(1, len(block))):
            part = block[first : first + (most or len(block))]
            yield slice(start, start + len(part)), part
            start += len(part)


def _peaks(blocks: Iterable[AnyArray]) -> Vector:
    """Return the largest absolute value of each column, 1 for a column of zeros."""
    peak = np.max([np.abs(block).max(axis=0) for block in blocks], axis=0).astype(np.float64)
    peak[peak == 0] = 1.0
    return np.asarray(peak)


def plain_design(
    training: Features,
    features: Features,
    standardize: bool,
    *,
    centre: bool = False,
    bias: bool = True,
    weights: Vector | None = None,
) -> Matrix | PlainRows:
    """Scale features by the training features' mean and deviation, or only centre them; append a 1, or 0 without a bias."""
    mean, spread = _moments(training, weights)
    spread[spread <= 1e-12 * np.abs(mean)] = 1.0
    spread = np.where(spread > 0, spread, 1.0)
    if not standardize:
        mean, spread = mean if centre else np.zeros_like(mean), np.ones_like(spread)
    rows = PlainRows(features, mean, spread, float(bias))
    return np.concatenate(list(rows.blocks())) if isinstance(features, np.ndarray) else rows


def _moments(features: Features, weights: Vector | None) -> tuple[Vector, Vector]:
    """Return mean and deviation of the columns; squares of 1e160 overflow, those of 1e-200 vanish, so peaks are 1 first."""
    peak = _peaks(feature_blocks(features))
    counts = np.ones(len(features)) if weights is None else weights

    def averaged(of: Callable[[Matrix], Matrix]) -> Vector:
        total, start = np.zeros(len(peak)), 0
        for block in feature_blocks(features):
            total += counts[start : start + len(block)] @ of(block.astype(np.float64) / peak)
            start += len(block)
        return np.asarray(total / counts.sum())

    mean = averaged(lambda block: block)
    return peak * mean, peak * np.sqrt(averaged(lambda block: (block - mean) ** 2))
