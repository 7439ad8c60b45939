import numpy as np

from leanset._arrays import Matrix
from leanset.head import Design


def loss_gap_bounds(design: Design, theta: Matrix, change: Matrix) -> tuple[float, float]:
    """Bound the rise of the mean loss on `design` when the head moves from theta to theta + change.

    First order, as in Theorem 1 of the paper: ‖∇L(θ)‖·‖Δθ‖. Second order: ½ Δθᵀ B Δθ, with B an
    upper bound on the curvature of the loss (for softmax Böhning's (1992) diag p − p pᵀ ⪯ ½(I − 11ᵀ/C)). Their sum is a
    guarantee, not an estimate. At a minimum the gradient is small, so the second term usually dominates.

    Examples
    --------
    >>> from leanset.head import Softmax
    >>> from leanset.rows import MemoryRows
    >>> design = Design(MemoryRows(np.ones((2, 1))), np.array([0, 1]), Softmax(2))
    >>> first, second = loss_gap_bounds(design, np.zeros((2, 1)), np.array([[1.0], [-1.0]]))
    >>> first, second
    (0.0, 0.5)
    """
    first = float(np.linalg.norm(design.mean_gradient(theta)) * np.linalg.norm(change))
    loss = design.loss
    return first, 0.5 * loss.bound * design.mean_squared_output(loss.effective(change))
