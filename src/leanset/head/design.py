from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset._threads import row_chunks
from leanset.data import Examples


@dataclass(frozen=True)
class Scaling:
    """Column means and standard deviations learnt on the training features."""

    mean: Vector
    scale: Vector

    def design_matrix(self, features: AnyArray) -> Matrix:
        """Return the scaled features in float64 with a column of ones appended."""
        rows, width = features.shape
        matrix = np.empty((rows, width + 1))
        matrix[:, width] = 1.0
        for chunk in row_chunks(rows, width):
            np.subtract(features[chunk], self.mean, out=matrix[chunk, :width])
            matrix[chunk, :width] /= self.scale
        return matrix

    def head_from_raw(self, weights: Matrix) -> Matrix:
        """Rewrite a (C, d+1) head for raw features as the head with the same outputs on scaled features."""
        scaled = weights[:, :-1] * self.scale
        bias = weights[:, -1] + weights[:, :-1] @ self.mean
        return np.column_stack([scaled, bias])


@dataclass(frozen=True)
class Design:
    """What the head sees: the (n, D) design matrix, labels, and the number of classes."""

    matrix: Matrix
    labels: Rows
    n_classes: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (C, D) of a head."""
        return self.n_classes, self.matrix.shape[1]

    def take(self, rows: AnyArray) -> "Design":
        """Return the design of some rows only."""
        return Design(self.matrix[rows], self.labels[rows], self.n_classes)


def design_of(examples: Examples, *, standardize: bool) -> tuple[Design, Design | None, Scaling]:
    """Build the training design, the validation design (if there is one) and the scaling they share.

    Examples
    --------
    >>> from leanset.data import checked_examples
    >>> design, _, _ = design_of(checked_examples([[1.0, 5.0], [3.0, 5.0]], [0, 1]), standardize=True)
    >>> design.matrix.tolist()
    [[-1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    """
    scaling = _scaling(examples.features) if standardize else _identity_scaling(examples.features.shape[1])
    n_classes = len(examples.classes)
    design = Design(scaling.design_matrix(examples.features), examples.labels, n_classes)
    if examples.validation is None:
        return design, None, scaling
    held_out = examples.validation
    return design, Design(scaling.design_matrix(held_out.features), held_out.labels, n_classes), scaling


def _identity_scaling(width: int) -> Scaling:
    return Scaling(np.zeros(width), np.ones(width))


def _scaling(features: AnyArray) -> Scaling:
    # Squares are taken of numbers of size one, so that columns of 1e160 or 1e-200 neither overflow nor vanish.
    peak = np.maximum(np.abs(features).max(axis=0).astype(np.float64), np.finfo(np.float64).tiny)
    mean = np.zeros(features.shape[1])
    for chunk in row_chunks(*features.shape):
        mean += (features[chunk] / peak).sum(axis=0) / len(features)
    variance = np.zeros_like(mean)
    for chunk in row_chunks(*features.shape):
        deviation = features[chunk] / peak - mean
        variance += np.einsum("ij,ij->j", deviation, deviation)
    mean, scale = mean * peak, np.sqrt(variance / len(features)) * peak
    # A constant column's deviation is rounding noise of its mean; dividing by it would blow noise up to signal.
    constant = scale <= 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
    return Scaling(mean, np.where(constant, 1.0, scale))
