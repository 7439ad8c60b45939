from functools import partial

import numpy as np

from leanset._arrays import AnyArray
from leanset._progress import Reporter
from leanset.head import FittedHead, HeadFit, choose_l2, design_of, fit_head
from leanset.influence import prepare_inverses
from leanset.inputs import Inputs
from leanset.plan import Plan
from leanset.runs import RunFolder
from leanset.select import Task
from leanset.solve import may_be_exact

_ACCURACY = 1e-7  # of the head, relative to its norm; removals move it far more
_FOR_WEIGHTS = 1e-11  # weights leave the head where it is, so they are as exact as it is; about one Newton step more


def fitted_task(
    inputs: Inputs, plan: Plan, folder: RunFolder | None, reporter: Reporter
) -> tuple[Task, HeadFit, float | None]:
    """Fit the head on all examples, or load it from an earlier run, and prepare its inverses."""
    memory = int(plan.settings.memory)
    design, validation, scaling = design_of(inputs.examples, plan.loss, **plan.kind_of_head, memory=memory)
    known, seed = _recalled(folder, design.shape), int(plan.settings.seed)
    chosen = None
    if plan.l2 is None and known is None:
        with reporter.stage("Choosing l2"):
            chosen = choose_l2(design, validation, seed)
    l2 = known.l2 if known else chosen.l2 if chosen else plan.l2
    assert l2 is not None  # given, known or chosen
    with reporter.stage("Fitting the head"):
        start = inputs.start
        if start is not None:
            start = design.ridge(l2).settled(scaling.head_from_raw(start))
        near = chosen.start if start is None and chosen else start
        accuracy = _FOR_WEIGHTS if plan.strategy.weighs and may_be_exact(design.free_weights) else _ACCURACY
        fit = known or fit_head(design, l2, start=near, relative_error=accuracy)
        head = FittedHead.at(design, fit.theta, l2, plan.penalty)
        task = Task(
            head=head,
            inverses=prepare_inverses(head, plan.settings.inverse, design.shares.vectors),
            validation=validation,
            constraints=plan.constraints,
            recorded=inputs.recorded,
            logits=inputs.logits,
            seed=seed,
            memory=design.shares.vectors,
        )
    if folder is not None and known is None:
        folder.save_stage("head", **{name: np.asarray(value) for name, value in vars(fit).items()})
    return task, fit, None if start is None else float(np.linalg.norm(fit.theta - start))


def _recalled(folder: RunFolder | None, shape: tuple[int, ...]) -> HeadFit | None:
    return None if folder is None else folder.recalled("head", partial(_head_in, shape=shape))


def _head_in(stage: dict[str, AnyArray], shape: tuple[int, ...]) -> HeadFit:
    l2, norm, error = (float(stage[name]) for name in ("l2", "gradient_norm", "error_bound"))
    theta = stage["theta"]
    if theta.shape != shape or theta.dtype != np.float64 or not np.isfinite([l2, norm, error, *theta.flat]).all():
        raise ValueError(f"a head must be {shape} finite numbers")
    return HeadFit(theta, l2, norm, error, int(stage["iterations"]))
