"""Losses and answers under the heads of a run and under those of random removals, measured again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import stdtrit

from leanset._arrays import Matrix, Vector
from leanset.recheck.check import Check, close
from leanset.recheck.heads import ROUNDING, Heads, kept_l2, promised
from leanset.recheck.plain import PlainProblem
from leanset.recheck.random_sets import RandomRule, random_heads


def check_losses(heads: Heads, rows: PlainProblem, certificate: dict[str, Any], where: str) -> Iterator[Check]:
    """Check losses, answers and their intervals on some rows; what is claimed of them depends on the rows."""
    before, after = rows.losses(heads.full), rows.losses(heads.lean)
    both = heads.full, heads.lean
    slack, at_ends = heads.mean_error(rows, heads.error, *both), heads.end_error(rows, heads.error, *both)
    measured: dict[str, tuple[float | None, float]] = {"loss": (rows.mean(before), slack)}
    measured |= _interval("loss_gap", rows, after - before, slack, at_ends)
    right, new_right, same = (_right(rows, heads.full), _right(rows, heads.lean), _same(rows, heads.full, heads.lean))
    ties = _near_ties(rows, heads.error, heads.full, heads.lean)
    if right is not None and new_right is not None and same is not None:
        measured |= {"accuracy": (rows.mean(right), ties), "same_answers": (rows.mean(same), ties)}
        measured |= _interval("accuracy_change", rows, new_right - right, 3 * ties, 9 * ties)
    for name, (value, slack) in measured.items():
        if f"{where}_{name}" in certificate:
            yield close(f"{where} {name}".replace("_", " "), certificate[f"{where}_{name}"], value, ROUNDING, slack)
    for name in ("accuracy", "accuracy_change", "accuracy_change_low", "accuracy_change_high", "same_answers"):
        if name not in measured and f"{where}_{name}" in certificate:
            yield close(f"{where} {name}".replace("_", " "), certificate[f"{where}_{name}"], None, 0.0, 0.0)


def _interval(
    name: str, rows: PlainProblem, values: Vector, slack: float, at_ends: float
) -> dict[str, tuple[float | None, float]]:
    mean, half = rows.mean(values), half_width(values, rows.weights)
    ends = (None, None) if half is None else (mean - half, mean + half)
    return {name: (mean, slack), f"{name}_low": (ends[0], at_ends), f"{name}_high": (ends[1], at_ends)}


def check_random(heads: Heads, rule: RandomRule, certificate: dict[str, Any]) -> Iterator[Check]:
    """Check all that is said of random removals, on the very draws of the run."""
    problem = heads.problem

    def l2_on(kept: float) -> float:
        worth = problem.total if certificate["weighted"] else kept  # with weights, random sets stand for all rows
        return kept_l2(certificate["penalty"], problem.l2, problem.total, worth)[0]

    fits = random_heads(problem, rule, l2_on, heads.full)
    error = heads.error + max(fit.error + promised(part, fit) for part, fit in fits)
    if error > 1e-3 * np.linalg.norm(heads.full):
        yield Check("random removals", True, "fits on random sets did not reach a minimum, so they say nothing", False)
        return
    drawn = [fit.theta for _, fit in fits]
    changes = np.array([float(np.linalg.norm(theta - heads.full)) for theta in drawn])
    for name, value in (("mean", changes.mean()), ("sd", changes.std(ddof=1))):
        key = f"random_refit_change_{name}"
        yield close(f"random removals, {name}", certificate[key], float(value), ROUNDING, 2 * error)
    for where, rows in heads.places.items():
        yield from _check_random_losses(heads, rows, drawn, error, certificate, where)
    yield from _check_above_random(heads, drawn, error, certificate)


def _check_random_losses(
    heads: Heads, rows: PlainProblem, drawn: list[Matrix], error: float, certificate: dict[str, Any], where: str
) -> Iterator[Check]:
    rises = [rows.gap(heads.full, theta) for theta in drawn]
    slack = max(heads.mean_error(rows, error, heads.full, theta) for theta in drawn)
    found: dict[str, tuple[float | None, float]] = {"loss_gap": (float(np.mean(rises)), slack)}
    ties = max(_near_ties(rows, error, heads.full, theta) for theta in drawn)
    found["same_answers"] = _mean(rows, [_same(rows, heads.full, theta) for theta in drawn]), ties
    if f"random_{where}_accuracy_change" in certificate:
        right = _right(rows, heads.full)
        gains = [None if right is None else _right(rows, theta) - right for theta in drawn]  # type: ignore[operator]
        found["accuracy_change"] = _mean(rows, gains), 2 * ties
    for name, (value, slack) in found.items():
        said = certificate[f"random_{where}_{name}"]
        yield close(f"random {where} {name}".replace("_", " "), said, value, ROUNDING, slack)


def _check_above_random(
    heads: Heads, drawn: list[Matrix], error: float, certificate: dict[str, Any]
) -> Iterator[Check]:
    """Check the loss beside that after random removals, and its interval over rows and draws."""
    rows = heads.judge
    above = rows.losses(heads.lean) - np.mean([rows.losses(theta) for theta in drawn], axis=0)
    rises = np.array([rows.gap(heads.full, theta) for theta in drawn])
    half = float(np.hypot(half_width(above, rows.weights) or 0.0, half_width(rises) or 0.0))
    slack, at_ends = (
        max(measure(rows, error, heads.lean, theta) for theta in drawn)
        for measure in (heads.mean_error, heads.end_error)
    )
    for name, value, off in (("", 0.0, slack), ("_low", -half, at_ends), ("_high", half, at_ends)):
        said, found = certificate[f"loss_above_random{name}"], rows.mean(above) + value
        yield close(f"loss above random{name}".replace("_", ", "), said, found, ROUNDING, off)


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
    reach = 2 * (error + 1e-14) * rows.lengths
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
