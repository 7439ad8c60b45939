"""What each rule says about one removal, on the same scale, so that theory can be laid beside what happened.

The four rules differ in what they leave out. With g_i the gradients, λ the penalty and m of n rows removed:

- paper: (1/n) H⁻¹ Σ g_i, as published: the penalty's share λθ̂ of every removed row is missing, and so is n/(n−m)
- centred: (1/(n−m)) H⁻¹ Σ (g_i + λθ̂), right to first order; the curvature is still that of all rows
- newton: the same sum under the kept rows' Hessian
- refit: the minimiser on the kept rows, which the others try to foresee

When m/n goes to 0 the last three come together and the first does not: λθ̂ is missing once for every removed row, so
the fault shrinks no faster than the change itself.
"""

from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Matrix
from leanset._linalg import Operator
from leanset.certify.bounds import loss_gap_bounds
from leanset.certify.gap import paired_gap
from leanset.certify.measure import newton_step, refit
from leanset.head import Design
from leanset.influence import HeadState, InverseHessian, influence_of_sum


@dataclass(frozen=True)
class Prediction:
    """What one rule says that a removal does to the head.

    Attributes
    ----------
    rule : "paper", "centred", "newton" or "refit"
    change : ‖Δθ‖
    gap : held-out loss at θ̂ + Δθ minus that at θ̂, both evaluated, not expanded
    bound : ‖∇L(θ̂)‖·‖Δθ‖ on the held-out rows, the first-order bound of the paper's Theorem 1; the gap may exceed it,
        because the second order is left out

    Examples
    --------
    >>> Prediction("refit", change=0.5, gap=0.01, bound=0.02).gap
    0.01
    """

    rule: str
    change: float
    gap: float
    bound: float


def predictions(
    state: HeadState, removed: Mask, for_sums: InverseHessian, precondition: Operator, validation: Design
) -> tuple[Prediction, ...]:
    """Predict what a removal does to the head and to the held-out loss, by four rules of growing exactness.

    Parameters
    ----------
    state : the head at its minimum on all rows
    removed : (n,) True where a row goes
    for_sums : inverse of the full Hessian; "paper" and "centred" are as exact as it is
    precondition : approximate inverse of the full Hessian, for the systems of "newton" and "refit"; it changes their
        effort, not their answers
    validation : held-out rows on the features as the head sees them

    Returns
    -------
    One prediction a rule, in the order "paper", "centred", "newton", "refit".

    Examples
    --------
    >>> from leanset.certify import preconditioner
    >>> from leanset.head import fit_head
    >>> from leanset.influence import Cholesky
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 300)
    >>> design = Design(np.c_[rng.normal(size=300) + labels, np.ones(300)], labels, 2)
    >>> train, held_out = design.take(np.arange(200)), design.take(np.arange(200, 300))
    >>> state = HeadState.at(train, fit_head(train, 1e-2).theta, 1e-2)
    >>> inverse = Cholesky().prepare(state.curvature())
    >>> said = predictions(state, np.arange(200) < 20, inverse, preconditioner(state, 2**30), held_out)
    >>> [prediction.rule for prediction in said]
    ['paper', 'centred', 'newton', 'refit']
    >>> newton, measured = said[2:]
    >>> abs(newton.change / measured.change - 1) < 0.05
    True
    """
    kept = len(removed) - int(removed.sum())
    if kept == 0:
        raise ValueError(
            f"`removed` takes all {len(removed):,} rows; no head can be fitted to none. Keep at least one."
        )
    rows = np.flatnonzero(removed)
    changes = {
        "paper": influence_of_sum(state, rows, for_sums, centred=False).solution[0],
        "centred": influence_of_sum(state, rows, for_sums, centred=True).solution[0] * (len(removed) / kept),
        "newton": newton_step(state, removed, precondition).solution[0],
        "refit": refit(state, removed, precondition).theta - state.theta,
    }
    return tuple(_prediction(rule, state.theta, change, validation) for rule, change in changes.items())


def _prediction(rule: str, theta: Matrix, change: Matrix, validation: Design) -> Prediction:
    first_order, _ = loss_gap_bounds(validation, theta, change)
    gap = paired_gap(validation, theta, theta + change).mean
    return Prediction(rule, float(np.linalg.norm(change)), gap, first_order)
