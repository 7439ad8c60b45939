"""A second implementation of losses, gradients, curvature and fit, directly from the formulas.

It shares nothing with the rest of leanset, so it detects mistakes in the fit, the influences or the solver. Each loss in
`head/` has one class here.
"""

import abc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit, logsumexp

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.data import Features, chosen_rows, feature_blocks


class PlainLoss(abc.ABC):
    """A loss by its formulas; z are (n, C) outputs, y the targets."""

    targets: str  # kind of targets, see `leanset.data`
    bound: float  # factor on the mean squared change of the outputs in the second-order bound

    @abc.abstractmethod
    def values(self, z: Matrix, y: AnyArray) -> Vector:
        """Return the losses."""

    @abc.abstractmethod
    def errors(self, z: Matrix, y: AnyArray) -> Matrix:
        """Return the derivatives with respect to the outputs."""

    @abc.abstractmethod
    def curved(self, z: Matrix, v: Matrix) -> Matrix:
        """Return the second derivative with respect to the outputs, applied to (n, C) directions v."""

    def answers(self, z: Matrix) -> AnyArray | None:
        """Return what outputs answer, one row each; None if a number is not right or wrong."""
        return None

    def truth(self, y: AnyArray) -> AnyArray:
        """Return targets in the form of `answers`."""
        return y

    def unit(self, y: AnyArray) -> float:
        """Return the size of the targets; probabilities have none."""
        return 1.0

    def unseen(self, theta: Matrix) -> Matrix:
        """Return the part of a head that changes no loss."""
        return np.zeros_like(theta)

    def bound_energy(self, moved: Matrix, weights: Vector | None = None) -> float:
        """Return the second-order bound for (n, C) changes of the outputs."""
        return float(self.bound * np.average(np.sum(moved**2, axis=1), weights=weights))


class PlainSoftmax(PlainLoss):
    """Cross-entropy."""

    targets, bound = "classes", 0.25

    def values(self, z: Matrix, y: AnyArray) -> Vector:
        """Return log Σ exp z − z_y."""
        return np.asarray(logsumexp(z, axis=1) - z[np.arange(len(z)), y])

    def errors(self, z: Matrix, y: AnyArray) -> Matrix:
        """Return p − y."""
        p = _softmax(z)
        p[np.arange(len(z)), y] -= 1.0
        return p

    def curved(self, z: Matrix, v: Matrix) -> Matrix:
        """Return (diag p − p pᵀ) v."""
        p = _softmax(z)
        return np.asarray(p * v - p * np.sum(p * v, axis=1, keepdims=True))

    def answers(self, z: Matrix) -> AnyArray | None:
        """Return the class with the largest output."""
        return np.asarray(np.argmax(z, axis=1)[:, None])

    def truth(self, y: AnyArray) -> AnyArray:
        """Return the classes as a column."""
        return y[:, None]

    def unseen(self, theta: Matrix) -> Matrix:
        """Return what all classes share."""
        return np.broadcast_to(theta.mean(axis=0), theta.shape)

    def bound_energy(self, moved: Matrix, weights: Vector | None = None) -> float:
        """Return ¼ of the mean squared deviation from the mean over the classes (Böhning 1992)."""
        spread = np.sum(moved**2, axis=1) - np.sum(moved, axis=1) ** 2 / moved.shape[1]
        return float(self.bound * np.average(spread, weights=weights))


class PlainSigmoid(PlainLoss):
    """Binary cross-entropy, summed over labels."""

    targets, bound = "labels", 0.125

    def values(self, z: Matrix, y: AnyArray) -> Vector:
        """Return Σ log(1 + exp z) − y z."""
        return np.asarray(np.sum(np.logaddexp(0.0, z) - y * z, axis=1))

    def errors(self, z: Matrix, y: AnyArray) -> Matrix:
        """Return σ(z) − y."""
        return np.asarray(expit(z) - y)

    def curved(self, z: Matrix, v: Matrix) -> Matrix:
        """Return σ(1 − σ) v."""
        return np.asarray(expit(z) * expit(-z) * v)

    def answers(self, z: Matrix) -> AnyArray | None:
        """Return which labels are more likely than not."""
        return z > 0

    def truth(self, y: AnyArray) -> AnyArray:
        """Return the labels as booleans."""
        return y > 0


class PlainSquared(PlainLoss):
    """Half the squared error, summed over numbers."""

    targets, bound = "numbers", 0.5

    def values(self, z: Matrix, y: AnyArray) -> Vector:
        """Return ½‖z − y‖²."""
        return np.asarray(0.5 * np.sum((z - y) ** 2, axis=1))

    def errors(self, z: Matrix, y: AnyArray) -> Matrix:
        """Return z − y."""
        return np.asarray(z - y)

    def curved(self, z: Matrix, v: Matrix) -> Matrix:
        """Return v."""
        return v

    def unit(self, y: AnyArray) -> float:
        """Return the root mean square of the numbers."""
        return float(np.sqrt(np.mean(np.square(y)))) or 1.0


PLAIN_LOSSES: dict[str, PlainLoss] = {
    "softmax": PlainSoftmax(),
    "sigmoid": PlainSigmoid(),
    "squared": PlainSquared(),
}


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

    def gradient_sum(self, theta: Matrix) -> Matrix:
        """Return the sum of the gradients of the rows, without the penalty."""
        errors = self.loss.errors(self.x @ theta.T, self.y)
        return np.asarray((errors if self.weights is None else errors * self.weights[:, None]).T @ self.x)

    def slope(self, theta: Matrix) -> float:
        """Return the norm of the gradient of the mean loss."""
        return float(np.linalg.norm(self.gradient_sum(theta) / self.total))

    def fit(self, near: Matrix | None = None) -> Matrix:
        """Fit with L-BFGS, from zero or from a head nearby."""

        def objective(flat: Matrix) -> tuple[float, Matrix]:
            theta = unit * flat.reshape(self.outputs, -1)
            value = self.mean_loss(theta) + 0.5 * np.sum(self.ridge * theta**2)
            slope = self.gradient_sum(theta) / self.total + self.ridge * theta
            return float(value / square), (unit * slope).ravel() / square

        # The tolerances below are absolute, so the head is measured in the units of the targets and of the features.
        square, start = self.loss.unit(self.y) ** 2, np.zeros(self.outputs * self.x.shape[1])
        unit = np.sqrt(square) / self._sizes
        if near is not None:
            start = (near / unit).ravel()
        options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 50}
        answer = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
        return np.asarray(unit * answer.x.reshape(self.outputs, -1))

    def newton_length(self, theta: Matrix) -> float:
        """Return the length of one Newton step from a head."""
        gradient = self.gradient_sum(theta) / self.total + self.ridge * theta
        return float(np.linalg.norm(self.solved(theta, gradient)))

    def solved(self, theta: Matrix, rhs: Matrix) -> Vector:
        """Return H⁻¹ rhs by SciPy's conjugate gradients, in the units of the features."""
        operator = LinearOperator((theta.size, theta.size), matvec=self._product(theta), dtype=np.float64)
        answer = cg(operator, (rhs / self._sizes).ravel(), rtol=1e-6, maxiter=10 * theta.size)[0]
        return np.asarray((answer.reshape(theta.shape) / self._sizes).ravel())

    @property
    def _sizes(self) -> Vector:
        squares = _mean_squares(self.x) + self.ridge  # about the curvature along each column
        return np.sqrt(np.where(squares > 0, squares, 1.0))

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
        total, start = np.zeros((len(left), self.shape[1])), 0
        for block in self.blocks():
            total += left[:, start : start + len(block)] @ block
            start += len(block)
        return total

    def blocks(self) -> Iterator[Matrix]:
        """Yield the scaled features with the bias, block by block."""
        for raw in feature_blocks(self.features):
            scaled = (raw.astype(np.float64) - self.mean) / self.spread
            yield np.hstack([scaled, np.full((len(scaled), 1), self.bias)])


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
    n, total, start = len(features), np.zeros(features.shape[1]), 0
    counts = np.ones(n) if weights is None else weights
    for block in feature_blocks(features):
        total += counts[start : start + len(block)] @ block.astype(np.float64)
        start += len(block)
    mean, squares, start = total / counts.sum(), np.zeros(features.shape[1]), 0
    for block in feature_blocks(features):
        squares += counts[start : start + len(block)] @ (block.astype(np.float64) - mean) ** 2
        start += len(block)
    return mean, np.sqrt(squares / counts.sum())


def _mean_squares(x: Matrix | PlainRows) -> Vector:
    blocks = [x] if isinstance(x, np.ndarray) else x.blocks()
    return np.asarray(sum(np.sum(block**2, axis=0) for block in blocks) / len(x))


def _softmax(z: Matrix) -> Matrix:
    return np.asarray(np.exp(z - logsumexp(z, axis=1)[:, None]))
