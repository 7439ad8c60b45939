from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leanset._arrays import Mask, Vector
from leanset._linalg import Operator
from leanset._version import __version__
from leanset.certify.bounds import loss_gap_bounds
from leanset.certify.certificate import Certificate
from leanset.certify.findings import (
    Finding,
    about_suspects,
    about_the_aim,
    about_the_head,
    about_the_start,
    about_validation,
)
from leanset.certify.quality import half_width, mean_of
from leanset.head import Design, FittedHead, HeadFit, refit
from leanset.problem import Paired, Quality, RandomRemovals, Removal


def issue_certificate(
    head: FittedHead,
    fit: HeadFit,
    validation: Design | None,
    removal: Removal,
    *,
    precondition: Operator,
    inverse: str,
    random: RandomRemovals,
    minimised: str,
    suspect: Mask | None,
    method: str,
    formulation: str,
    seed: int,
    fingerprint: str,
    start_distance: float | None,
    sample_weight: Vector | None,
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
    random : random removals of equal size, measured
    minimised : what the search minimised
    suspect : (n,) True for examples whose label is probably wrong; None if not looked for
    method, formulation, seed, fingerprint : needed to reproduce the result
    start_distance : ‖θ̂ − given head‖, if one was given
    sample_weight : (n,) how much each example counts, as the user gave it; None if all count alike
    findings : further findings
    """
    effect = removal.measured
    kept = (removal.weights if sample_weight is None else removal.weights * sample_weight)[~removal.removed]
    after = removal.refit or refit(head, removal.weights, precondition)
    judge = validation or head.design
    first, second = loss_gap_bounds(judge, head.theta, after.theta - head.theta)
    above = _above_random(judge.losses(after.theta), random, judge.worth)
    known = [*about_the_head(len(head), after.change, head.loss.name), *about_validation(validation)]
    if removal.row_weights is None:
        known += about_the_aim(minimised, len(head) - removal.count, head.free_weights)
    known += about_suspects(suspect)
    if start_distance is not None:
        known.append(about_the_start(start_distance, head.norm))
    return Certificate(
        n=len(head),
        removed=removal.count,
        influence_change=effect.influence_change,
        newton_change=effect.newton_change,
        refit_change=after.change,
        random_refit_change_mean=float(random.changes.mean()),
        random_refit_change_sd=float(random.changes.std(ddof=1)),
        head_norm=head.norm,
        l2=head.l2,
        inverse=inverse,
        inverse_residual=effect.inverse_residual,
        **_stated("validation", effect.validation, random.validation),
        **_stated("training", effect.training, random.training),
        loss_above_random=above.mean,
        loss_above_random_low=above.lowest,
        loss_above_random_high=above.highest,
        first_order_bound=first,
        second_order_bound=second,
        seed=seed,
        leanset_version=__version__,
        data_fingerprint=fingerprint,
        method=method,
        formulation=formulation,
        loss=head.loss.name,
        penalty=head.penalty.name,
        penalised_bias=head.design.penalise_bias,
        train_l2=head.l2_on(removal.weights),
        other_penalty_change=refit(replace(head, penalty=head.penalty.other), removal.weights, precondition).change,
        minimised=minimised,
        weighted=removal.row_weights is not None,
        sample_weighted=sample_weight is not None,
        least_weight=float(kept.min()),
        largest_weight=float(kept.max()),
        effective_size=float(kept.sum() ** 2 / np.sum(kept**2)),
        suspects_among_kept=None if suspect is None else _share(suspect[~removal.removed]),
        suspects_among_removed=None if suspect is None else _share(suspect[removal.removed]),
        refit_error_bound=fit.error_bound + after.error_bound,
        start_head_distance=start_distance,
        outcome=removal.outcome.value,
        findings=(*known, *findings),
    )


def _stated(where: str, quality: Quality | None, random: Sequence[Quality]) -> dict[str, Any]:
    """Return the fields about the training or validation examples; all None if there are no such examples."""
    stated: dict[str, float | None] = {}
    if quality is not None:
        own, drawn = quality.numbers(), np.mean([each.numbers() for each in random], axis=0)
        stated = {f"{where}_{name}": _known(value) for name, value in zip(Quality.NAMES, own, strict=True)}
        stated |= {f"random_{where}_{name}": _known(value) for name, value in zip(Quality.NAMES, drawn, strict=True)}
    fields = [key for key in Certificate.keys() if key.startswith((f"{where}_", f"random_{where}_"))]  # noqa: SIM118
    return {key: stated.get(key) for key in fields}


def _share(mask: Mask) -> float:
    return float(mask.mean()) if len(mask) else 0.0


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _above_random(losses: Vector, random: RandomRemovals, counts: Vector | None) -> Paired:
    """Compare losses with those after random removals: paired over the rows, and with the spread of the draws."""
    differences = losses - random.losses
    draws = np.array([quality.loss_gap.mean for quality in random.judged])
    half = float(np.hypot(half_width(differences, counts) or 0.0, half_width(draws) or 0.0))
    mean = mean_of(differences, counts)
    return Paired(mean, mean - half, mean + half)
