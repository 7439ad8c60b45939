from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from leanset._arrays import Vector
from leanset._linalg import Operator
from leanset._version import __version__
from leanset.certify.bounds import loss_gap_bounds
from leanset.certify.certificate import Certificate
from leanset.certify.findings import Finding, about_the_head, about_the_start, about_validation
from leanset.certify.gap import paired_gap
from leanset.head import Design, FittedHead, HeadFit, refit
from leanset.problem import Removal


def issue_certificate(
    head: FittedHead,
    fit: HeadFit,
    validation: Design | None,
    removal: Removal,
    *,
    precondition: Operator,
    inverse: str,
    random_changes: Vector,
    method: str,
    formulation: str,
    seed: int,
    fingerprint: str,
    start_distance: float | None,
    findings: Sequence[Finding],
) -> Certificate:
    """Measure a removal and return its certificate.

    Parameters
    ----------
    head, fit : the head fitted on all examples, and the accuracy of the fit
    validation : held-out rows, or None
    removal : the chosen removal, measured
    precondition : cheap approximate inverse for the refit
    inverse : name of the inverse used for the linear prediction
    random_changes : measured changes of random removals of equal size
    method, formulation, seed, fingerprint : needed to reproduce the result
    start_distance : ‖θ̂ − given head‖, if one was given
    findings : further findings
    """
    effect, kept = removal.measured, removal.weights[~removal.removed]
    after = removal.refit or refit(head, removal.weights, precondition)
    first, second = loss_gap_bounds(validation or head.design, head.theta, after.theta - head.theta)
    gap = None if validation is None else paired_gap(validation, head.theta, after.theta)
    known = [*about_the_head(len(head), after.change, head.loss.name), about_validation(validation, head, after)]
    if start_distance is not None:
        known.append(about_the_start(start_distance, head.norm))
    return Certificate(
        n=len(head),
        removed=removal.count,
        influence_change=effect.influence_change,
        newton_change=effect.newton_change,
        refit_change=after.change,
        random_refit_change_mean=float(random_changes.mean()),
        random_refit_change_sd=float(random_changes.std(ddof=1)),
        head_norm=head.norm,
        l2=head.l2,
        inverse=inverse,
        inverse_residual=effect.inverse_residual,
        validation_loss_gap=None if gap is None else gap.mean,
        validation_loss_gap_low=None if gap is None else gap.low,
        validation_loss_gap_high=None if gap is None else gap.high,
        first_order_bound=first,
        second_order_bound=second,
        seed=seed,
        leanset_version=__version__,
        data_fingerprint=fingerprint,
        method=method,
        formulation=formulation,
        loss=head.loss.name,
        penalty=head.penalty.name,
        train_l2=head.l2_on(removal.weights),
        other_penalty_change=refit(replace(head, penalty=head.penalty.other), removal.weights, precondition).change,
        weighted=removal.row_weights is not None,
        least_weight=float(kept.min()),
        largest_weight=float(kept.max()),
        effective_size=float(kept.sum() ** 2 / np.sum(kept**2)),
        refit_error_bound=fit.error_bound + after.error_bound,
        start_head_distance=start_distance,
        outcome=removal.outcome.value,
        findings=(*known, *findings),
    )
