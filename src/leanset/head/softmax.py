import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset._threads import in_order, row_chunks
from leanset.head.design import Design


def probabilities(design: Design, theta: Matrix) -> Matrix:
    """Return the (n, C) class probabilities of the head `theta`."""
    out = np.empty((len(design), design.n_classes))

    def fill(chunk: slice) -> None:
        out[chunk] = softmax(design.matrix[chunk] @ theta.T)

    list(in_order(fill, row_chunks(len(design), sum(design.shape))))
    return out


def softmax(logits: AnyArray) -> Matrix:
    """Return the row-wise softmax in float64.

    Examples
    --------
    >>> softmax(np.array([[1000.0, 1000.0]]))
    array([[0.5, 0.5]])
    """
    powers = np.array(logits, dtype=np.float64)
    powers -= powers.max(axis=1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def losses(design: Design, theta: Matrix) -> Vector:
    """Return the (n,) cross-entropies of the examples under the head `theta`."""
    out = np.empty(len(design))

    def fill(chunk: slice) -> None:
        logits = _shifted_logits(design.matrix[chunk], theta)
        picked = np.take_along_axis(logits, design.labels[chunk, None], axis=1)[:, 0]
        out[chunk] = np.log(np.exp(logits).sum(axis=1)) - picked

    list(in_order(fill, row_chunks(len(design), sum(design.shape))))
    return out


def share_right(design: Design, theta: Matrix) -> float:
    """Return the share of examples whose most probable class under the head `theta` is their label."""
    right = in_order(
        lambda chunk: int(((design.matrix[chunk] @ theta.T).argmax(axis=1) == design.labels[chunk]).sum()),
        row_chunks(len(design), sum(design.shape)),
    )
    return sum(right) / len(design)


def error_rows(probability: Matrix, labels: Rows) -> Matrix:
    """Return P − Y, the (n, C) error vectors whose outer products with the features are the gradients."""
    errors = probability.copy()
    errors[np.arange(len(errors)), labels] -= 1.0
    return errors


def gradient_sum(matrix: Matrix, errors: Matrix) -> Matrix:
    """Return Σ_i errors_i ⊗ features_i, a (C, D) matrix, in row-chunk order."""
    total = np.zeros((errors.shape[1], matrix.shape[1]))
    chunks = row_chunks(len(matrix), matrix.shape[1] + errors.shape[1])
    for part in in_order(lambda chunk: errors[chunk].T @ matrix[chunk], chunks):
        total += part
    return total


def mean_loss_gradient(design: Design, theta: Matrix) -> Matrix:
    """Return the gradient of the mean cross-entropy (no penalty) at `theta`."""
    errors = error_rows(probabilities(design, theta), design.labels)
    return gradient_sum(design.matrix, errors) / len(design)


def _shifted_logits(rows: Matrix, theta: Matrix) -> Matrix:
    logits = rows @ theta.T
    logits -= logits.max(axis=1, keepdims=True)
    return logits
