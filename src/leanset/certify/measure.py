from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Matrix
from leanset._linalg import LinearSolution, Operator, conjugate_gradients
from leanset.head import fit_head
from leanset.influence import Cholesky, HeadState, choose_inverse


@dataclass(frozen=True)
class Measurement:
    """The head refitted on the kept examples.

    Attributes
    ----------
    theta : (C, D) the refitted head
    change : ‖Δθ‖, its distance from the head of all examples
    error_bound : how far `theta` can be from the true minimiser, proven by strong convexity
    """

    theta: Matrix
    change: float
    error_bound: float


def preconditioner(state: HeadState, memory: int) -> Operator:
    """Return an (approximate) inverse of the full Hessian, good for every system with a kept Hessian."""
    if not isinstance(choose_inverse(state.design.shape, memory), Cholesky):
        return state.curvature().kronecker().solve
    prepared = Cholesky().prepare(state.curvature())
    return lambda stack: prepared.solve(stack).solution


def newton_step(state: HeadState, removed: Mask, precondition: Operator) -> LinearSolution:
    """Return the Newton step from θ̂ towards the minimiser on the kept rows, (1/(n−m)) H_K⁻¹ Σ_removed (g_i + l2·θ̂)."""
    kept = np.flatnonzero(~removed)
    # At θ̂ the centred gradients of all rows add up to zero, so the sum over the removed is minus the sum over the kept.
    gradient = state.gradient_sum(kept, centred=True) / len(kept)
    return conjugate_gradients(
        state.curvature(kept).apply, -gradient[None], precondition=precondition, tolerance=1e-9, max_iterations=1000
    )


def refit(state: HeadState, removed: Mask, precondition: Operator) -> Measurement:
    """Fit the head to the kept rows, to its minimum, and measure how far it moved."""
    kept = state.design.take(np.flatnonzero(~removed))
    fit = fit_head(kept, state.l2, start=state.theta, precondition=precondition)
    return Measurement(fit.theta, float(np.linalg.norm(fit.theta - state.theta)), fit.error_bound)
