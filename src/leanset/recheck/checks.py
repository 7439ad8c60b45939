from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import stdtrit

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset.data import Examples, fingerprint
from leanset.recheck.plain import PLAIN_LOSSES, PlainProblem, plain_design
from leanset.recheck.random_sets import RandomRule, mean_loss_gap, random_heads


@dataclass(frozen=True)
class Check:
    """One statement about a run, whether it holds, and the values found.

    Examples
    --------
    >>> Check("partition", True, "3 kept and 1 removed are all rows").holds
    True
    """

    name: str
    holds: bool
    detail: str


def check_removal(
    examples: Examples,
    kept: Rows,
    removed: Rows,
    certificate: dict[str, Any],
    *,
    standardize: bool,
    bias: bool,
    rule: RandomRule,
    weights: Vector | None = None,
    tolerance: float = 0.01,
) -> Iterator[Check]:
    """Check a removal and its certificate against the data; yield one check at a time.

    Parameters
    ----------
    examples : the data of the run
    kept, removed : row numbers as saved
    certificate : the saved certificate as a dict
    standardize, bias : whether the run scaled its features, and whether its head has a bias
    weights : of the kept rows in their order, those they came with included; None if all count alike
    rule : how the run draws its random removals
    tolerance : relative difference allowed between claimed and re-measured changes
    """
    claimed = certificate["data_fingerprint"]
    same = fingerprint(examples) == claimed
    yield Check("data", same, "fingerprint matches" if same else f"this is not the data of the run ({claimed[:12]}…)")
    rows = np.concatenate([kept, removed])
    whole = len(rows) == len(examples) and (np.sort(rows) == np.arange(len(examples))).all()
    yield Check("partition", bool(whole), f"{len(kept):,} kept + {len(removed):,} removed of {len(examples):,} rows")
    if not whole:
        return
    counts = certificate["n"] == len(examples) and certificate["removed"] == len(removed)
    yield Check("counts", counts, f"certificate says {certificate['removed']:,} of {certificate['n']:,}")
    present = examples.targets.group_sizes > 0
    left = np.bincount(examples.targets.groups[kept], minlength=len(present))[present]
    lost = examples.targets.lost(kept)
    fine = bool((left > 0).all()) and lost is None
    yield Check("classes", fine, lost or f"smallest class or group keeps {int(left.min()):,} examples")
    if len(removed) and same and fine:
        yield from _check_changes(examples, kept, rule, certificate, standardize, bias, weights, tolerance)


def _check_changes(
    examples: Examples,
    kept: Rows,
    rule: RandomRule,
    certificate: dict[str, Any],
    standardize: bool,
    bias: bool,
    weights: Vector | None,
    tolerance: float,
) -> Iterator[Check]:
    loss, outputs, l2 = PLAIN_LOSSES[certificate["loss"]], len(examples.classes), certificate["l2"]
    penalised = bool(certificate["penalised_bias"])
    own = examples.weight
    as_seen = partial(
        plain_design, examples.features, standardize=standardize, centre=not penalised, bias=bias, weights=own
    )
    x = as_seen(examples.features)
    problem = PlainProblem(loss, x, examples.labels, outputs, l2, own, penalise_bias=penalised)
    worth = len(kept) if weights is None else float(weights.sum())
    lean_l2, other_l2 = _kept_l2(certificate["penalty"], l2, problem.total, worth)
    lean_problem = problem.part(kept, lean_l2, weights)
    full, lean = problem.fit(), lean_problem.fit()
    norm, change = float(np.linalg.norm(full)), float(np.linalg.norm(lean - full))
    # L-BFGS stops a little earlier than leanset's Newton fit; smaller differences would only test its stopping rule.
    resolution = 1e-5 * norm
    yield _close("head norm", certificate["head_norm"], norm, tolerance, slack=0.0)
    yield _close("measured change", certificate["refit_change"], change, tolerance, slack=resolution)
    yield _close("l2 to train with", certificate["train_l2"], lean_l2, 1e-9, slack=0.0)
    other = float(np.linalg.norm(problem.part(kept, other_l2, weights).fit() - full))
    yield _close("other penalty", certificate["other_penalty_change"], other, tolerance, slack=resolution)
    newton = lean_problem.newton_length(full)
    yield _close("Newton step", certificate["newton_change"], newton, tolerance, slack=resolution)
    if certificate["inverse_residual"] < 1e-4:
        plain = certificate["formulation"] == "paper" or certificate["penalty"] == "total"
        gone = np.ones(len(x)) if own is None else own.copy()
        gone[kept] -= 1.0 if weights is None else weights
        linear = _influence(problem, gone, full, centred=not plain)
        yield _close("influence", certificate["influence_change"], linear, tolerance, slack=resolution)
    judge = problem
    if examples.validation is not None:
        held_out = examples.validation
        judge = replace(problem, x=as_seen(held_out.features), y=held_out.labels, weights=held_out.weight)
    yield from _check_bounds(judge, full, lean - full, certificate, tolerance, resolution)
    yield _close(
        "training loss",
        certificate["training_loss_gap"],
        _gap(problem, full, lean),
        tolerance,
        1e-5 * _scale(problem, full),
    )
    yield from _check_answers(problem, full, lean, certificate, "training")
    if examples.validation is None or certificate["validation_loss_gap"] is None:
        absent = examples.validation is None and certificate["validation_loss_gap"] is None
        detail = "no validation data, none claimed" if absent else "claimed without validation data, or missing"
        yield Check("loss gap", absent, detail)
        if not absent:
            return
    yield from _check_random(problem, judge, full, lean, rule, certificate, tolerance)
    if examples.validation is None:
        return
    yield from _check_gap(judge, full, lean, certificate, tolerance, resolution)
    yield from _check_answers(judge, full, lean, certificate, "validation")


def _kept_l2(penalty: str, l2: float, n: float, worth: float) -> tuple[float, float]:
    """Return the l2 on rows worth so much out of n, by what stays fixed when training on less; then the other one."""
    scaled = {"mean": l2, "total": l2 * n / worth}
    return scaled.pop(penalty), *scaled.values()  # type: ignore[return-value]


def _influence(problem: PlainProblem, gone: Vector, full: Matrix, *, centred: bool) -> float:
    """Return the linear prediction for what goes of each row: as published, or centred and divided by what stays."""
    everything = np.arange(len(gone))
    total = problem.part(everything, weights=gone).gradient_sum(full)
    total = total + (float(gone.sum()) * problem.ridge if centred else 0.0) * full
    divisor = problem.total - float(gone.sum()) if centred else problem.total
    return float(np.linalg.norm(problem.solved(full, total / divisor)))


def _check_random(
    problem: PlainProblem,
    judge: PlainProblem,
    full: Matrix,
    lean: Matrix,
    rule: RandomRule,
    certificate: dict[str, Any],
    tolerance: float,
) -> Iterator[Check]:
    """Check all that is said of random removals, on the very draws of the run."""

    def l2_on(kept: float) -> float:
        worth = problem.total if certificate["weighted"] else kept  # with weights, random sets stand for all rows
        return _kept_l2(certificate["penalty"], problem.l2, problem.total, worth)[0]

    heads = random_heads(problem, rule, l2_on, full)
    changes = np.array([float(np.linalg.norm(head - full)) for head in heads])
    slack = 1e-5 * float(np.linalg.norm(full))
    yield _close("random removals", certificate["random_refit_change_mean"], changes.mean(), tolerance, slack)
    spread = float(changes.std(ddof=1))
    yield _close(
        "spread of random removals",
        certificate["random_refit_change_sd"],
        spread,
        tolerance,
        slack + tolerance * changes.mean(),
    )
    places = {"training": problem} | ({} if judge is problem else {"validation": judge})
    for where, rows in places.items():
        gap, losses, rises = mean_loss_gap(rows, full, heads)
        scale = 1e-5 * _scale(rows, full)
        claimed = certificate[f"random_{where}_loss_gap"]
        yield _close(f"loss after random removals, {where}", claimed, gap, tolerance, scale)
        same = [_same_answers(rows, full, head) for head in heads]
        claimed = certificate[f"random_{where}_same_answers"]
        yield _same_share(f"answers after random removals, {where}", claimed, same, rows)
    above = judge.losses(lean) - losses
    half = float(np.hypot(_half_width(above, judge.weights), _half_width(rises)))
    for name, value in (("", 0.0), ("_low", -half), ("_high", half)):
        claimed = certificate[f"loss_above_random{name}"]
        yield _close(
            f"loss above random{name.replace('_', ', ')}", claimed, judge.mean(above) + value, tolerance, 2 * scale
        )


def _same_answers(judge: PlainProblem, full: Matrix, head: Matrix) -> float | None:
    before, after = (judge.loss.answers(judge.x @ theta.T) for theta in (full, head))
    return None if before is None or after is None else judge.mean(np.mean(before == after, axis=1))


def _same_share(name: str, claimed: float | None, found: list[float | None], rows: PlainProblem) -> Check:
    """Compare shares of unchanged answers; rows near a tie may fall either way, so one in a thousand is let off."""
    known = [share for share in found if share is not None]
    if claimed is None or not known:
        said = "none" if claimed is None else f"{claimed:.6g}"
        return Check(
            name, claimed is None and not known, f"claimed {said}, and there are {'some' if known else 'none'}"
        )
    return _close(name, claimed, float(np.mean(known)), 0.0, _answers_slack(rows))


def _answers_slack(rows: PlainProblem) -> float:
    return max(1e-3, 1.5 / len(rows.x))


def _half_width(values: Vector, weights: Vector | None = None) -> float:
    """Return half the width of the 95 % interval of a (weighted) mean, 0 for a single value."""
    n = len(values)
    if n == 1:
        return 0.0
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    variance = np.sum(shares**2 * (values - np.average(values, weights=weights)) ** 2) * n / (n - 1)
    return float(stdtrit(n - 1, 0.975) * np.sqrt(variance))


def _check_gap(
    judge: PlainProblem,
    full: Matrix,
    lean: Matrix,
    certificate: dict[str, Any],
    tolerance: float,
    resolution: float,
) -> Iterator[Check]:
    differences = judge.losses(lean) - judge.losses(full)
    gap, claimed = judge.mean(differences), certificate["validation_loss_gap"]
    scale = _scale(judge, full)
    yield _close("loss gap", claimed, gap, tolerance, slack=1e-5 * scale)
    if len(differences) > 1:
        half = _half_width(differences, judge.weights)
        for name, end in (("low", gap - half), ("high", gap + half)):
            claimed = certificate[f"validation_loss_gap_{name}"]
            yield _close(f"{name} end of the gap", claimed, end, tolerance, slack=1e-5 * scale)
    bound = certificate["first_order_bound"] + certificate["second_order_bound"]
    slack = 1e-9 * scale + judge.slope(full) * resolution
    yield Check("gap within bound", gap <= bound * (1 + tolerance) + slack, f"gap {gap:+.6f} ≤ bound {bound:.6f}")


def _check_answers(
    judge: PlainProblem, full: Matrix, lean: Matrix, certificate: dict[str, Any], where: str
) -> Iterator[Check]:
    """Check the claims about answers."""
    same = _same_answers(judge, full, lean)
    yield _same_share(f"same answers, {where}", certificate[f"{where}_same_answers"], [same], judge)
    if where == "validation" and same is not None:
        before, after = (judge.loss.answers(judge.x @ theta.T) for theta in (full, lean))
        truth = judge.loss.truth(judge.y)

        def share(answers: AnyArray | None) -> float:
            return judge.mean(np.mean(answers == truth, axis=1))

        for name, answers in (("validation_accuracy", before), ("validation_accuracy_change", after)):
            right = share(answers) - (0.0 if answers is before else share(before))
            yield _close(name.replace("_", " "), certificate[name], right, 0.0, _answers_slack(judge))


def _gap(judge: PlainProblem, full: Matrix, lean: Matrix) -> float:
    return judge.mean(judge.losses(lean) - judge.losses(full))


def _scale(judge: PlainProblem, full: Matrix) -> float:
    """Return the scale of losses: squared errors scale with the targets, cross-entropies are about 1."""
    return max(1.0, float(judge.losses(full).mean()))


def _check_bounds(
    judge: PlainProblem,
    full: Matrix,
    change: Matrix,
    certificate: dict[str, Any],
    tolerance: float,
    resolution: float,
) -> Iterator[Check]:
    slope = judge.slope(full)
    first = slope * float(np.linalg.norm(change))
    second = judge.loss.bound_energy(judge.x @ change.T, judge.weights)
    slack = 1e-7 + slope * resolution  # below the resolution of L-BFGS a change cannot be told from none
    yield _close("first-order bound", certificate["first_order_bound"], first, tolerance, slack=slack)
    yield _close("second-order bound", certificate["second_order_bound"], second, tolerance, slack=1e-7)


def _close(name: str, claimed: float, measured: float, tolerance: float, slack: float) -> Check:
    holds = abs(claimed - measured) <= tolerance * abs(measured) + slack
    return Check(name, bool(holds), f"claimed {claimed:.6g}, re-measured {measured:.6g}")
