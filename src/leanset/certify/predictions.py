"""Predictions of four rules for one removal, on the same scale, to compare theory with measurement.

The four rules differ in what they leave out. With g_i the gradients, λ the penalty and m of n rows removed:

- published: (1/n) H⁻¹ Σ g_i, as published; leaves out the penalty's share λθ̂ of every removed row and the factor n/(n−m)
- centred: (1/(n−m)) H⁻¹ Σ (g_i + λθ̂), correct to first order; still uses the curvature of all rows
- newton: the same sum with the Hessian of the kept rows
- refit: the minimiser on the kept rows, which the others predict

As m/n goes to 0, the last three converge to each other and the first does not: it misses λθ̂ once for every removed row,
so its error shrinks no faster than the change itself.
"""

from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Matrix
from leanset.certify.bounds import loss_gap_bounds
from leanset.head import Design, FittedHead, newton_step, refit
from leanset.influence import HeadInverses


@dataclass(frozen=True)
class Prediction:
    """The effect of a removal on the head, as predicted by one rule.

    Attributes
    ----------
    rule : "published", "centred", "newton" or "refit"
    change : ‖Δθ‖
    gap : held-out loss at θ̂ + Δθ minus that at θ̂, both evaluated, not approximated
    bound : ‖∇L(θ̂)‖·‖Δθ‖ on the held-out rows, the first-order bound of the paper's Theorem 1; the gap may exceed it,
        because it leaves out the second order

    Examples
    --------
    >>> Prediction("refit", change=0.5, gap=0.01, bound=0.02).gap
    0.01
    """

    rule: str
    change: float
    gap: float
    bound: float


def predictions(head: FittedHead, removed: Mask, inverses: HeadInverses, validation: Design) -> tuple[Prediction, ...]:
    """Predict the effect of a removal on the head and on the held-out loss, by four rules of increasing accuracy.

    Parameters
    ----------
    head : the head at its minimum on all rows
    removed : (n,) True for removed rows
    inverses : of its Hessian; "published" and "centred" are only as accurate as these
    validation : held-out rows, with the features as the head sees them

    Returns
    -------
    One prediction per rule, in the order "published", "centred", "newton", "refit".

    Examples
    --------
    >>> from leanset.head import Softmax, fit_head
    >>> from leanset.influence import prepare_inverses
    >>> from leanset.rows import MemoryRows
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 300)
    >>> design = Design(MemoryRows(np.c_[rng.normal(size=300) + labels, np.ones(300)]), labels, Softmax(2))
    >>> train, held_out = design.sample(np.arange(200)), design.sample(np.arange(200, 300))
    >>> head = FittedHead.at(train, fit_head(train, 1e-2).theta, 1e-2)
    >>> said = predictions(head, np.arange(200) < 20, prepare_inverses(head, None, 2**30), held_out)
    >>> [prediction.rule for prediction in said]
    ['published', 'centred', 'newton', 'refit']
    >>> newton, measured = said[2:]
    >>> abs(newton.change / measured.change - 1) < 0.05
    True
    """
    kept = len(removed) - int(removed.sum())
    if kept == 0:
        raise ValueError(f"`removed` contains all {len(removed):,} rows, so no head can be fitted. Keep at least one.")
    gone = removed.astype(np.float64)
    weights = 1.0 - gone
    changes = {
        "published": inverses.influence_of_sum(head, gone, centred=False).solution[0],
        "centred": inverses.influence_of_sum(head, gone, centred=True).solution[0]
        * (head.design.total() / head.design.total(weights)),
        "newton": newton_step(head, weights, inverses.precondition).solution[0],
        "refit": refit(head, weights, inverses.precondition).theta - head.theta,
    }
    return tuple(_prediction(rule, head.theta, change, validation) for rule, change in changes.items())


def _prediction(rule: str, theta: Matrix, change: Matrix, validation: Design) -> Prediction:
    first_order, _ = loss_gap_bounds(validation, theta, change)
    gap = validation.mean_loss(theta + change) - validation.mean_loss(theta)
    return Prediction(rule, float(np.linalg.norm(change)), gap, first_order)
