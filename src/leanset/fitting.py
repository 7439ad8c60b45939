import numpy as np

from leanset._progress import Reporter
from leanset.head import FittedHead, HeadFit, design_of, fit_head
from leanset.influence import prepare_inverses
from leanset.inputs import Inputs
from leanset.plan import Plan
from leanset.runs import RunFolder
from leanset.select import Task


def fitted_task(
    inputs: Inputs, plan: Plan, folder: RunFolder | None, reporter: Reporter
) -> tuple[Task, HeadFit, float | None]:
    """Fit the head on all examples, or load it from an earlier run, and prepare its inverses."""
    with reporter.stage("Fitting the head"):
        design, validation, scaling = design_of(
            inputs.examples, plan.loss, standardize=plan.standardize, penalise_bias=plan.penalise_bias
        )
        start = inputs.start
        if start is not None:
            start = design.ridge(plan.l2).settled(scaling.head_from_raw(start))
        known = _recalled(folder)
        fit = known or fit_head(design, plan.l2, start=start)
        head = FittedHead.at(design, fit.theta, plan.l2, plan.penalty)
        task = Task(
            head=head,
            inverses=prepare_inverses(head, plan.settings.inverse, plan.settings.memory),
            validation=validation,
            constraints=plan.constraints,
            recorded=inputs.recorded,
            logits=inputs.logits,
            seed=int(plan.settings.seed),
            memory=int(plan.settings.memory),
        )
    if folder is not None and known is None:
        folder.save_stage("head", **{name: np.asarray(value) for name, value in vars(fit).items()})
    return task, fit, None if start is None else float(np.linalg.norm(fit.theta - start))


def _recalled(folder: RunFolder | None) -> HeadFit | None:
    if folder is None or not folder.has_stage("head"):
        return None
    stage = folder.load_stage("head")
    return HeadFit(stage["theta"], float(stage["gradient_norm"]), float(stage["error_bound"]), int(stage["iterations"]))
