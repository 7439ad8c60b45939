"""What a certificate says about the head and its losses, measured again.

Two accurate fits of one head differ by a little: by what each is away from the minimum. `_Accuracy` knows how much that is,
and how much of it reaches a number that is computed from the heads. Nothing else is let off but rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import stdtrit

from leanset._arrays import Matrix, Rows, Vector
from leanset.data import Examples
from leanset.recheck.check import Check, close
from leanset.recheck.plain import LARGEST_DENSE, Fit, PlainProblem, plain_design
from leanset.recheck.plain_losses import PLAIN_LOSSES
from leanset.recheck.random_sets import RandomRule, random_heads

_PROMISED = 1e-7  # distance to the minimum at which a run stops its fits, relative to the norm of the head
_ROUNDING = 1e-6  # relative difference that rounding and iterative solvers explain
_RESIDUAL = 2e-9  # relative, of the linear system of a Newton step
_SINGLE = 1e-6  # of vectors that are stored as float32
_SOLVED = 1e-4  # the same for numbers from a linear system; also the residual up to which its solution is exact


@dataclass(frozen=True)
class _Heads:
    """The problem of a run, and its heads fitted again.

    Attributes
    ----------
    problem, judge : all training rows; the validation rows, or all training rows without any
    full, lean : the heads of all rows and of the kept ones
    error : how far the two heads of the run may be from these
    """

    problem: PlainProblem
    judge: PlainProblem
    full: Matrix
    lean: Matrix
    error: float

    def loss_error(self, rows: PlainProblem, error: float, *heads: Matrix) -> float:
        """Return how much a mean loss, or an end of its interval, can differ between heads that are this near."""
        lengths = np.linalg.norm(rows.x, axis=1)
        moved = [np.linalg.norm(rows.loss.errors(rows.x @ head.T, rows.y), axis=1) * lengths for head in heads]
        rises = sum(float(np.sqrt(rows.mean(each**2))) for each in moved)
        bend = 2 * rows.loss.bound * rows.mean(lengths**2)
        return 2 * error * rises + bend * error**2 + 1e-12 * max(1e-3, rows.mean_loss(self.full))


def check_changes(
    examples: Examples,
    kept: Rows,
    rule: RandomRule,
    certificate: dict[str, Any],
    *,
    standardize: bool,
    bias: bool,
    weights: Vector | None,
    norms: Vector,
    probability: Vector,
) -> Iterator[Check]:
    """Fit the heads again and compare every number that follows from them.

    Parameters
    ----------
    examples : the data of the run
    kept : places of the kept rows
    rule : how the run draws its random removals
    certificate : the saved certificate as a dict
    standardize, bias : whether the run scaled its features, and whether its head has a bias
    weights : of the kept rows in their order, those they came with included; None if all count alike
    norms, probability : of all rows, as saved in the selection table
    """
    loss, outputs, l2 = PLAIN_LOSSES[certificate["loss"]], len(examples.classes), certificate["l2"]
    penalised = bool(certificate["penalised_bias"])
    counts, held_out = examples.weight, examples.validation
    as_seen = partial(
        plain_design, examples.features, standardize=standardize, centre=not penalised, bias=bias, weights=counts
    )
    x = as_seen(examples.features)
    problem = judge = PlainProblem(loss, x, examples.labels, outputs, l2, counts, penalise_bias=penalised)
    if held_out is not None:
        judge = replace(problem, x=as_seen(held_out.features), y=held_out.labels, weights=held_out.weight)
    worth = len(kept) if weights is None else float(weights.sum())
    lean_l2, other_l2 = kept_l2(certificate["penalty"], l2, problem.total, worth)
    lean_problem = problem.part(kept, lean_l2, weights)
    full = problem.fit()
    lean = lean_problem.fit(full.theta)
    for fit, what in ((full, "all rows"), (lean, "the kept rows")):
        if not fit.error <= _ROUNDING * np.linalg.norm(fit.theta):
            yield Check("refit", True, f"the fit on {what} did not reach a minimum, so no change was measured", False)
            return
    allowed = _promised(problem, full) + _promised(lean_problem, lean)
    bound = certificate["refit_error_bound"]
    yield Check(
        "accuracy of the fits", 0 <= bound <= allowed, f"claimed {bound:.2g}, at most {allowed:.2g} is promised"
    )
    heads = _Heads(problem, judge, full.theta, lean.theta, min(bound, allowed) + full.error + lean.error)
    change = float(np.linalg.norm(lean.theta - full.theta))
    yield close("head norm", certificate["head_norm"], float(np.linalg.norm(full.theta)), _ROUNDING, heads.error)
    yield close("measured change", certificate["refit_change"], change, _ROUNDING, heads.error)
    yield close("l2 to train with", certificate["train_l2"], lean_l2, 1e-12, slack=0.0)
    other_problem = problem.part(kept, other_l2, weights)
    other = other_problem.fit(lean.theta)
    moved = float(np.linalg.norm(other.theta - full.theta))
    off = heads.error + other.error + _promised(other_problem, other)
    yield close("other penalty", certificate["other_penalty_change"], moved, _ROUNDING, off)
    newton, strength = lean_problem.newton_length(full.theta), float(lean_problem.ridge.min())
    left = _RESIDUAL * float(np.linalg.norm(lean_problem.gradient(full.theta))) / strength if strength else 0.0
    yield close("Newton step", certificate["newton_change"], newton, _SOLVED, 3 * heads.error + left)
    yield from _check_influence(heads, kept, weights, certificate, norms)
    own = loss.probability(problem.x @ full.theta.T, problem.y)
    off = 2 * heads.error * float(np.linalg.norm(problem.x, axis=1).max())
    same = bool(np.allclose(probability, own, rtol=_ROUNDING, atol=off + 1e-12, equal_nan=True))
    yield Check("label_probability", same, f"of {len(own):,} rows, under the head of all examples")
    yield from _check_bounds(heads, certificate)
    if held_out is None:
        said = [key for key, value in certificate.items() if "validation_" in key and value is not None]
        yield Check("validation", not said, f"claimed without data: {', '.join(said)}" if said else "no data")
    for where, rows in _places(heads).items():
        yield from _check_losses(heads, rows, certificate, where)
    yield from _check_random(heads, rule, certificate)


def kept_l2(penalty: str, l2: float, n: float, worth: float) -> tuple[float, float]:
    """Return the l2 on rows worth so much out of n, by what stays fixed when training on less; then the other one."""
    scaled = {"mean": l2, "total": l2 * n / worth}
    return scaled.pop(penalty), *scaled.values()  # type: ignore[return-value]


def _promised(problem: PlainProblem, fit: Fit) -> float:
    """Return how far a run's fit may be from the minimum: a share of the norm, or what rounding leaves of the gradient."""
    strength = float(problem.ridge.min())
    by_rounding = 2 * problem.rounding(fit.theta) / strength if strength else 0.0
    return max(2 * _PROMISED * float(np.linalg.norm(fit.theta)), by_rounding)


def _places(heads: _Heads) -> dict[str, PlainProblem]:
    return {"training": heads.problem} | ({} if heads.judge is heads.problem else {"validation": heads.judge})


def _check_influence(
    heads: _Heads, kept: Rows, weights: Vector | None, certificate: dict[str, Any], norms: Vector
) -> Iterator[Check]:
    problem, residual = heads.problem, certificate["inverse_residual"]
    exact = certificate["inverse"] in ("cholesky", "cg")
    fine = 0 <= residual < (_SOLVED if exact else np.inf)
    yield Check("inverse residual", fine, f"{residual:.2g} with {certificate['inverse']}")
    centred = certificate["formulation"] != "paper" and certificate["penalty"] != "total"
    shift = problem.ridge * heads.full if centred else np.zeros_like(heads.full)
    if residual < _SOLVED:
        gone = np.ones(len(problem.x)) if problem.weights is None else problem.weights.copy()
        gone[kept] -= 1.0 if weights is None else weights
        total = problem.part(np.arange(len(gone)), weights=gone).gradient_sum(heads.full) + gone.sum() * shift
        left = problem.total - float(gone.sum())
        divisor = left if centred else problem.total
        linear = float(np.linalg.norm(problem.solved(heads.full, total / divisor)))
        off = 3 * heads.error * problem.total / max(left, 1e-3 * problem.total)
        yield close("influence", certificate["influence_change"], linear, _SOLVED, off)
    if certificate["inverse"] == "cholesky" and heads.full.size <= LARGEST_DENSE:
        seen, most = problem.influence_norms(heads.full, shift)
        allowed = _SOLVED * seen + _SINGLE * most + heads.error / len(seen)
        yield Check("influence_norm", bool((np.abs(norms - seen) <= allowed).all()), f"of {len(seen):,} rows")


def _check_bounds(heads: _Heads, certificate: dict[str, Any]) -> Iterator[Check]:
    judge, change = heads.judge, heads.lean - heads.full
    slope, length = judge.slope(heads.full), float(np.linalg.norm(change))
    bend = 2 * judge.loss.bound * judge.mean(np.sum(judge.x**2, axis=1))
    off = heads.error * (slope + 2 * bend * (length + heads.error)) + 1e-15
    first, second = slope * length, judge.loss.bound_energy(judge.x @ change.T, judge.weights)
    yield close("first-order bound", certificate["first_order_bound"], first, _ROUNDING, off)
    yield close("second-order bound", certificate["second_order_bound"], second, _ROUNDING, off)
    gap, bound = _gap(judge, heads.full, heads.lean), first + second
    off += heads.loss_error(judge, heads.error, heads.full, heads.lean)
    yield Check("gap within bound", gap <= bound * (1 + _ROUNDING) + off, f"gap {gap:+.6g} ≤ bound {bound:.6g}")


def _check_losses(heads: _Heads, rows: PlainProblem, certificate: dict[str, Any], where: str) -> Iterator[Check]:
    """Check losses, answers and their intervals on some rows; what is claimed of them depends on the rows."""
    before, after = rows.losses(heads.full), rows.losses(heads.lean)
    off = heads.loss_error(rows, heads.error, heads.full, heads.lean)
    measured: dict[str, tuple[float | None, float]] = {"loss": (rows.mean(before), off)}
    measured |= _interval("loss_gap", rows, after - before, off)
    right, new_right, same = (_right(rows, heads.full), _right(rows, heads.lean), _same(rows, heads.full, heads.lean))
    ties = _near_ties(rows, heads.error, heads.full, heads.lean)
    if right is not None and new_right is not None and same is not None:
        measured |= {"accuracy": (rows.mean(right), ties), "same_answers": (rows.mean(same), ties)}
        measured |= _interval("accuracy_change", rows, new_right - right, 3 * ties)
    for name, (value, slack) in measured.items():
        if f"{where}_{name}" in certificate:
            yield close(f"{where} {name}".replace("_", " "), certificate[f"{where}_{name}"], value, _ROUNDING, slack)
    for name in ("accuracy", "accuracy_change", "accuracy_change_low", "accuracy_change_high", "same_answers"):
        if name not in measured and f"{where}_{name}" in certificate:
            yield close(f"{where} {name}".replace("_", " "), certificate[f"{where}_{name}"], None, 0.0, 0.0)


def _interval(name: str, rows: PlainProblem, values: Vector, slack: float) -> dict[str, tuple[float | None, float]]:
    mean, half = rows.mean(values), half_width(values, rows.weights)
    ends = (None, None) if half is None else (mean - half, mean + half)
    return {name: (mean, slack), f"{name}_low": (ends[0], 3 * slack), f"{name}_high": (ends[1], 3 * slack)}


def _check_random(heads: _Heads, rule: RandomRule, certificate: dict[str, Any]) -> Iterator[Check]:
    """Check all that is said of random removals, on the very draws of the run."""
    problem = heads.problem

    def l2_on(kept: float) -> float:
        worth = problem.total if certificate["weighted"] else kept  # with weights, random sets stand for all rows
        return kept_l2(certificate["penalty"], problem.l2, problem.total, worth)[0]

    fits = random_heads(problem, rule, l2_on, heads.full)
    error = heads.error + max(fit.error + _promised(part, fit) for part, fit in fits)
    if error > 1e-3 * np.linalg.norm(heads.full):
        yield Check("random removals", True, "fits on random sets did not reach a minimum, so they say nothing", False)
        return
    drawn = [fit.theta for _, fit in fits]
    changes = np.array([float(np.linalg.norm(theta - heads.full)) for theta in drawn])
    for name, value in (("mean", changes.mean()), ("sd", changes.std(ddof=1))):
        key = f"random_refit_change_{name}"
        yield close(f"random removals, {name}", certificate[key], float(value), _ROUNDING, 2 * error)
    for where, rows in _places(heads).items():
        off = heads.loss_error(rows, error, heads.full, *drawn)
        before, after = rows.losses(heads.full), [rows.losses(theta) for theta in drawn]
        rises = np.array([rows.mean(losses - before) for losses in after])
        found: dict[str, tuple[float | None, float]] = {"loss_gap": (float(rises.mean()), off)}
        ties = max(_near_ties(rows, error, heads.full, theta) for theta in drawn)
        same = [_same(rows, heads.full, theta) for theta in drawn]
        found["same_answers"] = _mean(rows, same), ties
        if f"random_{where}_accuracy_change" in certificate:
            right = _right(rows, heads.full)
            gains = [None if right is None else _right(rows, theta) - right for theta in drawn]  # type: ignore[operator]
            found["accuracy_change"] = _mean(rows, gains), 2 * ties
        for name, (value, slack) in found.items():
            said = certificate[f"random_{where}_{name}"]
            yield close(f"random {where} {name}".replace("_", " "), said, value, _ROUNDING, slack)
    above = heads.judge.losses(heads.lean) - np.mean(after, axis=0)
    half, off = float(np.hypot(half_width(above, heads.judge.weights) or 0.0, half_width(rises) or 0.0)), 3 * off
    for name, value in (("", 0.0), ("_low", -half), ("_high", half)):
        said = certificate[f"loss_above_random{name}"]
        yield close(
            f"loss above random{name}".replace("_", ", "), said, heads.judge.mean(above) + value, _ROUNDING, off
        )


def _mean(rows: PlainProblem, values: list[Vector | None]) -> float | None:
    known = [rows.mean(value) for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _right(rows: PlainProblem, head: Matrix) -> Vector | None:
    """Return the share of right answers of each row; None if a number is not right or wrong."""
    answers = rows.loss.answers(rows.x @ head.T)
    return None if answers is None else np.asarray(np.mean(answers == rows.loss.truth(rows.y), axis=1))


def _same(rows: PlainProblem, full: Matrix, head: Matrix) -> Vector | None:
    before, after = (rows.loss.answers(rows.x @ theta.T) for theta in (full, head))
    return None if before is None or after is None else np.asarray(np.mean(before == after, axis=1))


def _near_ties(rows: PlainProblem, error: float, *heads: Matrix) -> float:
    """Return the share of rows whose answer may fall either way between heads that are this near."""
    reach = 2 * (error + 1e-14) * np.linalg.norm(rows.x, axis=1)
    near = [rows.loss.margins(rows.x @ head.T) <= reach for head in heads]
    return rows.mean(np.any(near, axis=0).astype(np.float64)) + 1e-12


def half_width(values: Vector, weights: Vector | None = None) -> float | None:
    """Return half the width of the 95 % interval of a (weighted) mean; None for a single value."""
    n = len(values)
    if n == 1:
        return None
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    variance = np.sum(shares**2 * (values - np.average(values, weights=weights)) ** 2) * n / (n - 1)
    return float(stdtrit(n - 1, 0.975) * np.sqrt(variance))


def _gap(judge: PlainProblem, full: Matrix, lean: Matrix) -> float:
    return judge.mean(judge.losses(lean) - judge.losses(full))
