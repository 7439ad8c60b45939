import numpy as np

from leanset._arrays import Matrix
from leanset._threads import in_order, row_chunks
from leanset.head import Design, mean_loss_gradient


def loss_gap_bounds(design: Design, theta: Matrix, change: Matrix) -> tuple[float, float]:
    """Bound the rise of the mean loss on `design` when the head moves from theta to theta + change.

    First order, as in Theorem 1 of the paper: ‖∇L(θ)‖·‖Δθ‖. Second order: ½ Δθᵀ B Δθ with Böhning's (1992) bound
    diag p − p pᵀ ⪯ ½(I − 11ᵀ/C), which holds at every point between the two heads. Their sum is a guarantee, not an
    estimate; at a minimum the gradient is small, so the second term usually dominates.

    Examples
    --------
    >>> design = Design(np.ones((2, 1)), np.array([0, 1]), 2)
    >>> first, second = loss_gap_bounds(design, np.zeros((2, 1)), np.array([[1.0], [-1.0]]))
    >>> first, second
    (0.0, 0.5)
    """
    first = float(np.linalg.norm(mean_loss_gradient(design, theta)) * np.linalg.norm(change))
    centred = change - change.mean(axis=0)

    def energy(chunk: slice) -> float:
        moved = design.matrix[chunk] @ centred.T
        return float(np.einsum("ij,ij->", moved, moved))

    total = sum(in_order(energy, row_chunks(len(design), sum(design.shape))))
    return first, 0.25 * total / len(design)
