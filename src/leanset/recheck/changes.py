"""What a certificate says about the head and its change, measured again."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from leanset._arrays import Vector
from leanset.recheck.check import Check, close
from leanset.recheck.heads import EXACT, ROUNDING, Heads, kept_l2, promised
from leanset.recheck.judged import check_losses, check_random
from leanset.recheck.plain import LARGEST_DENSE, PlainProblem, plain_design
from leanset.recheck.plain_losses import PLAIN_LOSSES
from leanset.recheck.random_sets import RandomRule
from leanset.recheck.saved import SavedRun

_RESIDUAL = 2e-9  # relative, of the linear system of a Newton step
_SINGLE = 1e-6  # of vectors that are stored as float32
_SOLVED = 1e-4  # relative difference of numbers from a linear system that its residual explains


def check_changes(run: SavedRun) -> Iterator[Check]:
    """Fit the heads again and compare every number that follows from them."""
    certificate = run.certificate
    problem, judge = _problems(run)
    worth = len(run.kept) if run.weights is None else float(run.weights.sum())
    penalties = kept_l2(certificate["penalty"], problem.l2, problem.total, worth)
    lean_problem, other_problem = (problem.part(run.kept, l2, run.weights) for l2 in penalties)
    full = problem.fit()
    lean = lean_problem.fit(full.theta)
    for fit, what in ((full, "all rows"), (lean, "the kept rows")):
        if not fit.error <= ROUNDING * np.linalg.norm(fit.theta):
            yield Check("refit", True, f"the fit on {what} did not reach a minimum, so no change was measured", False)
            return
    most, bound = promised(problem, full) + promised(lean_problem, lean), certificate["refit_error_bound"]
    yield Check("accuracy of the fits", 0 <= bound <= most, f"claimed {bound:.2g}, at most {most:.2g} is promised")
    heads = Heads(problem, judge, full.theta, lean.theta, min(bound, most) + full.error + lean.error)
    yield from _check_heads(heads, lean_problem, other_problem, certificate)
    yield from _check_influence(heads, run)
    yield _check_probabilities(heads, run.table["label_probability"])
    yield from _check_bounds(heads, certificate)
    if run.examples.validation is None:
        said = [key for key, value in certificate.items() if "validation_" in key and value is not None]
        yield Check("validation", not said, f"claimed without data: {', '.join(said)}" if said else "no data")
    for where, rows in heads.places.items():
        yield from check_losses(heads, rows, certificate, where)
    yield from check_random(heads, RandomRule.of_run(run), certificate)


def _problems(run: SavedRun) -> tuple[PlainProblem, PlainProblem]:
    """Return the problem on all rows, and on the validation rows, or once more on all rows if there are none."""
    examples, certificate = run.examples, run.certificate
    penalised, counts, held_out = bool(certificate["penalised_bias"]), examples.weight, examples.validation
    as_seen = partial(
        plain_design,
        examples.features,
        standardize=run.settings["standardize"],
        centre=not penalised,
        bias=run.settings["bias"],
        weights=counts,
    )
    problem = PlainProblem(
        *(PLAIN_LOSSES[certificate["loss"]], as_seen(examples.features), examples.labels, len(examples.classes)),
        *(certificate["l2"], counts, penalised),
    )
    if held_out is None:
        return problem, problem
    return problem, replace(problem, x=as_seen(held_out.features), y=held_out.labels, weights=held_out.weight)


def _check_heads(
    heads: Heads, lean_problem: PlainProblem, other_problem: PlainProblem, certificate: dict[str, Any]
) -> Iterator[Check]:
    """Check the norm of the head and its change: measured, under the other penalty, and by one Newton step."""
    full, lean = heads.full, heads.lean
    change = float(np.linalg.norm(lean - full))
    yield close("head norm", certificate["head_norm"], float(np.linalg.norm(full)), ROUNDING, heads.error)
    yield close("measured change", certificate["refit_change"], change, ROUNDING, heads.error)
    yield close("l2 to train with", certificate["train_l2"], lean_problem.l2, 1e-12, slack=0.0)
    other = other_problem.fit(lean)
    moved = float(np.linalg.norm(other.theta - full))
    off = heads.error + other.error + promised(other_problem, other)
    yield close("other penalty", certificate["other_penalty_change"], moved, ROUNDING, off)
    newton, strength = lean_problem.newton_length(full), float(lean_problem.ridge.min())
    left = _RESIDUAL * float(np.linalg.norm(lean_problem.gradient(full))) / strength if strength else 0.0
    yield close("Newton step", certificate["newton_change"], newton, _SOLVED, 3 * heads.error + left)


def _check_influence(heads: Heads, run: SavedRun) -> Iterator[Check]:
    problem, certificate = heads.problem, run.certificate
    residual = certificate["inverse_residual"]
    exact = certificate["inverse"] in ("cholesky", "cg")
    fine = 0 <= residual < (EXACT if exact else np.inf)
    yield Check("inverse residual", fine, f"{residual:.2g} with {certificate['inverse']}")
    centred = certificate["formulation"] != "paper" and certificate["penalty"] != "total"
    shift = problem.ridge * heads.full if centred else np.zeros_like(heads.full)
    if residual < EXACT:
        gone = np.ones(len(problem.x)) if problem.weights is None else problem.weights.copy()
        gone[run.kept] -= 1.0 if run.weights is None else run.weights
        total = problem.part(np.arange(len(gone)), weights=gone).gradient_sum(heads.full) + gone.sum() * shift
        left = problem.total - float(gone.sum())
        divisor = left if centred else problem.total
        linear = float(np.linalg.norm(problem.solved(heads.full, total / divisor)))
        off = 3 * heads.error * problem.total / max(left, 1e-3 * problem.total)
        yield close("influence", certificate["influence_change"], linear, _SOLVED, off)
    if certificate["inverse"] == "cholesky" and heads.full.size <= LARGEST_DENSE:
        rows = problem.lengths
        seen, most = problem.influence_norms(heads.full, shift)
        # A head that is off by e has gradients and curvatures that are off by e·|x|², and the inverse is at most 1 / l2.
        off = heads.error * (1.0 + float(rows.max()) ** 2 / max(certificate["l2"], 1e-300)) / len(seen)
        allowed = _SOLVED * seen + _SINGLE * most + off
        near = np.abs(run.table["influence_norm"] - seen) <= allowed
        yield Check("influence_norm", bool(near.all()), f"of {len(seen):,} rows")


def _check_probabilities(heads: Heads, said: Vector) -> Check:
    rows = heads.problem
    own = rows.loss.probability(rows.x @ heads.full.T, rows.y)
    off = 2 * heads.error * float(rows.lengths.max())
    same = bool(np.allclose(said, own, rtol=ROUNDING, atol=off + 1e-12, equal_nan=True))
    return Check("label_probability", same, f"of {len(own):,} rows, under the head of all examples")


def _check_bounds(heads: Heads, certificate: dict[str, Any]) -> Iterator[Check]:
    judge, change = heads.judge, heads.lean - heads.full
    slope, length = judge.slope(heads.full), float(np.linalg.norm(change))
    bend = 2 * judge.loss.bound * judge.mean(judge.lengths**2)
    off = heads.error * (slope + 2 * bend * (length + heads.error)) + 1e-15
    first, second = slope * length, judge.loss.bound_energy(judge.x @ change.T, judge.weights)
    yield close("first-order bound", certificate["first_order_bound"], first, ROUNDING, off)
    yield close("second-order bound", certificate["second_order_bound"], second, ROUNDING, off)
    gap, bound = judge.gap(heads.full, heads.lean), first + second
    off += heads.mean_error(judge, heads.error, heads.full, heads.lean)
    yield Check("gap within bound", gap <= bound * (1 + ROUNDING) + off, f"gap {gap:+.6g} ≤ bound {bound:.6g}")
