import numpy as np

from leanset._version import __version__
from leanset.certify import Certificate, Measurement, loss_gap_bounds, paired_gap, refit
from leanset.head import share_right
from leanset.influence import Kronecker
from leanset.influence.kronecker import error_against_exact
from leanset.pipeline.evaluate import Evaluation
from leanset.pipeline.evaluations import Evaluations
from leanset.pipeline.formulations import Formulation, NewtonFormulation

_LARGE_RESIDUAL = 1e-3


def issue_certificate(evaluations: Evaluations, answer: Evaluation, fingerprint: str) -> Certificate:
    """Measure everything that the certificate of an answer states."""
    formulation = evaluations.formulation
    ground, settings = formulation.ground, formulation.ground.settings
    after = refit(ground.state, answer.removed, ground.precondition)
    judge = ground.validation or ground.state.design
    first, second = loss_gap_bounds(judge, ground.theta, after.theta - ground.theta)
    gap = None if ground.validation is None else paired_gap(ground.validation, ground.theta, after.theta)
    random = np.zeros(settings.random_draws)
    if answer.count:
        with evaluations.reporter.stage(
            "Refits of random removals", units=settings.random_draws, unit="refits"
        ) as advance:
            random = evaluations.random_changes(answer.count, settings.random_draws, advance)
    return Certificate(
        n=len(ground.examples),
        removed=answer.count,
        influence_change=answer.influence_change,
        newton_change=answer.newton_change,
        refit_change=after.change,
        random_refit_change_mean=float(random.mean()),
        random_refit_change_sd=float(random.std(ddof=1)),
        head_norm=ground.head_norm,
        l2=settings.l2,
        inverse=ground.for_sums.name,
        inverse_residual=answer.inverse_residual,
        validation_loss_gap=None if gap is None else gap.mean,
        validation_loss_gap_low=None if gap is None else gap.low,
        validation_loss_gap_high=None if gap is None else gap.high,
        first_order_bound=first,
        second_order_bound=second,
        seed=settings.seed,
        leanset_version=__version__,
        data_fingerprint=fingerprint,
        method=settings.method_name,
        formulation=settings.formulation,
        refit_error_bound=ground.fit.error_bound + after.error_bound,
        start_head_distance=ground.start_head_distance,
        outcome=answer.outcome.value,
        notes=tuple(_notes(formulation, answer, after)),
    )


def _notes(formulation: Formulation, answer: Evaluation, after: Measurement) -> list[str]:
    ground, settings, change = formulation.ground, formulation.ground.settings, after.change
    notes = [
        "The certificate speaks of the softmax head on these fixed features; "
        "what a whole network does, only retraining tells.",
        f"In the scale of the paper's Theorem 1, which leaves out the 1/n, "
        f"the measured change is {len(ground.examples) * change:.6g}.",
    ]
    if ground.validation is not None:
        before, lean = (share_right(ground.validation, theta) for theta in (ground.theta, after.theta))
        notes.append(
            f"Of the validation examples the head of all examples gets {100 * before:.2f} % right, the head refitted on the "
            f"kept ones {100 * lean:.2f} %."
        )
    else:
        notes.append(
            "No validation data was given: there is no loss gap, and the bounds are for the loss on the training examples."
        )
    if ground.start_head_distance is not None:
        notes.append(
            f"The head that was given lay {ground.start_head_distance:.4g} from the minimum of its own problem "
            f"({ground.start_head_distance / ground.head_norm:.2%} of that norm); influences are taken at the minimum."
        )
    if settings.formulation == "paper":
        notes.append(
            f"The paper's formulation predicts {answer.influence_change:.6g} and does not check it; "
            f"a refit measures {change:.6g}."
        )
    if isinstance(formulation, NewtonFormulation) and settings.coverage is not None:
        doubted = settings.coverage.doubted(formulation.suspect)
        if doubted > 0:
            notes.append(
                f"{formulation.suspect:.0%} of the labels are suspect: the network confidently says another class. The hardest "
                f"{doubted:.0%} of each class (or as many as had to go) went first, whatever that does to the head."
            )
    limit = settings.budget.limit(ground.head_norm)
    if settings.budget.kind in ("epsilon", "relative_epsilon") and change > limit:
        notes.append(f"The measured change exceeds the bound of {limit:.6g} that was asked for.")
    if isinstance(ground.inverse, Kronecker):
        notes.append(_kronecker_note(formulation))
    elif formulation.influence.residual > _LARGE_RESIDUAL:
        notes.append(
            f"The influence vectors that steered the search have a relative residual of {formulation.influence.residual:.2g}."
        )
    if settings.solver is not None and getattr(settings.solver, "seconds", None) is not None:
        notes.append("The solver was limited in seconds, so another machine or run may find another set.")
    return notes


def _kronecker_note(formulation: Formulation) -> str:
    state, rows = formulation.ground.state, np.linspace(0, len(formulation.ground.examples) - 1, 8).astype(np.int64)
    error = error_against_exact(state.curvature(), state.gradients(rows))
    return (
        f"The search was steered by Kronecker-approximated influences: relative error {error:.2g} against conjugate gradients "
        f"on {len(rows)} rows, {formulation.influence.captured:.1%} of the squared length in the coordinates used. The changes "
        "stated here do not depend on that approximation, except `influence_change` where `inverse` says kronecker."
    )
