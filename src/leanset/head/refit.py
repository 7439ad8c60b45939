from dataclasses import dataclass

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset._linalg import LinearSolution, Operator, conjugate_gradients
from leanset.head.fit import fit_head
from leanset.head.fitted import FittedHead


@dataclass(frozen=True)
class Refit:
    """The head fitted again on the kept examples.

    Attributes
    ----------
    theta : (C, D) the refitted head
    change : ‖Δθ‖, its distance from the head fitted on all examples
    error_bound : how far `theta` can be from the true minimiser; see `HeadFit`
    """

    theta: Matrix
    change: float
    error_bound: float


def newton_step(head: FittedHead, weights: Vector, precondition: Operator) -> LinearSolution:
    """Return the Newton step from θ̂ towards the minimiser on the kept rows, (1/(n−m)) H_K⁻¹ Σ_removed (g_i + l2·θ̂)."""
    # At θ̂ the gradient of the problem on all rows is zero, so the sum over the removed is minus the sum over the kept.
    kept, some = head.counting(weights)
    return conjugate_gradients(
        kept.curvature(some).apply,
        -kept.mean_gradient(some)[None],
        precondition=precondition,
        tolerance=1e-9,
        max_iterations=1000,
    )


def refit(head: FittedHead, weights: Vector, precondition: Operator) -> Refit:
    """Refit the head on the kept rows and measure how far it moves."""
    fit = fit_head(head.design, head.l2_on(weights), weights=weights, start=head.theta, precondition=precondition)
    return Refit(fit.theta, float(np.linalg.norm(fit.theta - head.theta)), fit.error_bound)
