"""Each loss of `head/` a second time, directly from its formulas."""

import abc

import numpy as np
from scipy.special import expit, logsumexp

from leanset._arrays import AnyArray, Matrix, Vector


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

    def margins(self, z: Matrix) -> Vector:
        """Return how far the outputs of each row are from another answer."""
        return np.full(len(z), np.inf)

    def truth(self, y: AnyArray) -> AnyArray:
        """Return targets in the form of `answers`."""
        return y

    def probability(self, z: Matrix, y: AnyArray) -> Vector:
        """Return the probability of each row's own target; NaN if a number has none."""
        return np.asarray(np.exp(-self.values(z, y)))

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

    def margins(self, z: Matrix) -> Vector:
        """Return the distance between the two largest outputs."""
        ordered = np.sort(z, axis=1)
        return np.asarray(ordered[:, -1] - ordered[:, -2])

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

    def margins(self, z: Matrix) -> Vector:
        """Return the distance to zero of the output that is nearest to it."""
        return np.asarray(np.abs(z).min(axis=1))

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

    def probability(self, z: Matrix, y: AnyArray) -> Vector:
        """Return NaN."""
        return np.full(len(z), np.nan)

    def unit(self, y: AnyArray) -> float:
        """Return the root mean square of the numbers."""
        return float(np.sqrt(np.mean(np.square(y)))) or 1.0


PLAIN_LOSSES: dict[str, PlainLoss] = {
    "softmax": PlainSoftmax(),
    "sigmoid": PlainSigmoid(),
    "squared": PlainSquared(),
}


def _softmax(z: Matrix) -> Matrix:
    return np.asarray(np.exp(z - logsumexp(z, axis=1)[:, None]))
