"""An independent re-check of a saved run.

Nothing here is shared with the search: the head is refitted from zero with another algorithm (L-BFGS from SciPy) on an
objective written out anew, so a mistake in leanset's own fit, influences or solver cannot hide itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import logsumexp, stdtrit

from leanset._arrays import Matrix, Rows, Vector
from leanset.data import Examples, fingerprint


@dataclass(frozen=True)
class Check:
    """One statement about a run, whether it holds, and the values seen."""

    name: str
    holds: bool
    detail: str


def verify_removal(
    examples: Examples,
    kept: Rows,
    removed: Rows,
    certificate: dict[str, Any],
    *,
    standardize: bool,
    pinned: Rows,
    tolerance: float = 0.01,
) -> Iterator[Check]:
    """Check a removal and its certificate against the data, yielding one finding at a time.

    Parameters
    ----------
    examples : the data the run was made from
    kept, removed : row numbers as saved
    certificate : the saved certificate as a dict
    standardize : whether the run scaled its features
    pinned : rows that had to stay
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
    left = np.bincount(examples.labels[kept], minlength=len(examples.classes))
    yield Check("classes", bool((left > 0).all()), f"smallest class keeps {int(left.min()):,} examples")
    if len(removed) and same and (left > 0).all():
        yield from _verify_changes(examples, kept, removed, pinned, certificate, standardize, tolerance)


def _verify_changes(
    examples: Examples,
    kept: Rows,
    removed: Rows,
    pinned: Rows,
    certificate: dict[str, Any],
    standardize: bool,
    tolerance: float,
) -> Iterator[Check]:
    x = _plain_design(examples.features, examples.features, standardize)
    n_classes, l2 = len(examples.classes), certificate["l2"]
    full = _plain_fit(x, examples.labels, n_classes, l2)
    lean = _plain_fit(x[kept], examples.labels[kept], n_classes, l2)
    norm, change = float(np.linalg.norm(full)), float(np.linalg.norm(lean - full))
    yield _close("head norm", certificate["head_norm"], norm, tolerance, slack=0.0)
    # L-BFGS stops a little earlier than leanset's Newton fit; below this the comparison would test its stopping rule.
    yield _close("measured change", certificate["refit_change"], change, tolerance, slack=1e-5 * norm)
    newton = _plain_newton(x[kept], examples.labels[kept], full, l2)
    yield _close("Newton step", certificate["newton_change"], newton, tolerance, slack=1e-5 * norm)
    if certificate["inverse_residual"] < 1e-4:
        yield _close(
            "influence",
            certificate["influence_change"],
            _influence(x, examples, removed, full, certificate),
            tolerance,
            slack=1e-5 * norm,
        )
    yield _random_scale(x, examples, removed, pinned, full, certificate)
    judge, labels = x, examples.labels
    if examples.validation is not None:
        judge, labels = (
            _plain_design(examples.features, examples.validation.features, standardize),
            examples.validation.labels,
        )
    yield from _verify_bounds(judge, labels, full, lean - full, certificate, tolerance)
    if examples.validation is None or certificate["validation_loss_gap"] is None:
        absent = examples.validation is None and certificate["validation_loss_gap"] is None
        yield Check(
            "loss gap",
            absent,
            "no validation data, none claimed" if absent else "claimed without validation data, or missing",
        )
        return
    yield from _verify_gap(judge, labels, full, lean, certificate, tolerance)


def _influence(x: Matrix, examples: Examples, removed: Rows, full: Matrix, certificate: dict[str, Any]) -> float:
    l2, published = certificate["l2"], certificate["formulation"] == "paper"
    errors = _plain_probabilities(x[removed], full)
    errors[np.arange(len(removed)), examples.labels[removed]] -= 1.0
    total = errors.T @ x[removed] + (0.0 if published else len(removed) * l2) * full
    divisor = len(x) if published else len(x) - len(removed)
    return float(np.linalg.norm(_plain_solve(x, full, l2, total / divisor)))


def _random_scale(
    x: Matrix, examples: Examples, removed: Rows, pinned: Rows, full: Matrix, certificate: dict[str, Any]
) -> Check:
    rng, gone = np.random.default_rng(certificate["seed"]), np.zeros(len(examples), dtype=bool)
    free = np.setdiff1d(np.arange(len(examples)), pinned)
    for c, count in enumerate(np.bincount(examples.labels[removed], minlength=len(examples.classes))):
        gone[rng.permutation(free[examples.labels[free] == c])[:count]] = True
    lean = _plain_fit(x[~gone], examples.labels[~gone], len(examples.classes), certificate["l2"])
    fresh, mean = float(np.linalg.norm(lean - full)), certificate["random_refit_change_mean"]
    # One fresh draw against a mean of several: this catches a wrong scale, not a wrong digit.
    return Check(
        "random removals", abs(fresh - mean) <= 0.5 * mean, f"claimed {mean:.4g} on average, one fresh draw {fresh:.4g}"
    )


def _verify_gap(
    val: Matrix, labels: Rows, full: Matrix, lean: Matrix, certificate: dict[str, Any], tolerance: float
) -> Iterator[Check]:
    differences = _plain_losses(val, labels, lean) - _plain_losses(val, labels, full)
    gap, claimed = float(differences.mean()), certificate["validation_loss_gap"]
    yield _close("loss gap", claimed, gap, tolerance, slack=1e-5)
    if len(differences) > 1:
        half = float(stdtrit(len(differences) - 1, 0.975) * differences.std(ddof=1) / np.sqrt(len(differences)))
        width = certificate["validation_loss_gap_high"] - certificate["validation_loss_gap_low"]
        yield _close("interval of the gap", width / 2, half, tolerance, slack=1e-5)
    bound = certificate["first_order_bound"] + certificate["second_order_bound"]
    yield Check("gap within bound", gap <= bound * (1 + tolerance) + 1e-9, f"gap {gap:+.6f} ≤ bound {bound:.6f}")


def _verify_bounds(
    x: Matrix, labels: Rows, full: Matrix, change: Matrix, certificate: dict[str, Any], tolerance: float
) -> Iterator[Check]:
    errors = _plain_probabilities(x, full)
    errors[np.arange(len(x)), labels] -= 1.0
    slope = np.linalg.norm(errors.T @ x / len(x))
    first = float(slope * np.linalg.norm(change))
    moved = x @ change.T
    second = float(0.25 * np.mean(np.sum(moved**2, axis=1) - np.sum(moved, axis=1) ** 2 / moved.shape[1]))
    yield _close("first-order bound", certificate["first_order_bound"], first, tolerance, slack=1e-7)
    yield _close("second-order bound", certificate["second_order_bound"], second, tolerance, slack=1e-7)


def _close(name: str, claimed: float, measured: float, tolerance: float, slack: float) -> Check:
    holds = abs(claimed - measured) <= tolerance * abs(measured) + slack
    return Check(name, bool(holds), f"claimed {claimed:.6g}, re-measured {measured:.6g}")


def _plain_design(training: Matrix, features: Matrix, standardize: bool) -> Matrix:
    x = np.asarray(features, dtype=np.float64)
    if standardize:
        reference = np.asarray(training, dtype=np.float64)
        spread = reference.std(axis=0)
        spread[spread <= 1e-12 * np.abs(reference.mean(axis=0))] = 1.0
        x = (x - reference.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.hstack([x, np.ones((len(x), 1))])


def _plain_losses(x: Matrix, labels: Rows, theta: Matrix) -> Vector:
    logits = x @ theta.T
    return np.asarray(logsumexp(logits, axis=1) - logits[np.arange(len(x)), labels])


def _plain_probabilities(x: Matrix, theta: Matrix) -> Matrix:
    logits = x @ theta.T
    return np.asarray(np.exp(logits - logsumexp(logits, axis=1)[:, None]))


def _plain_fit(x: Matrix, labels: Rows, n_classes: int, l2: float) -> Matrix:
    targets = np.zeros((len(x), n_classes))
    targets[np.arange(len(x)), labels] = 1.0

    def objective(flat: Matrix) -> tuple[float, Matrix]:
        theta = flat.reshape(n_classes, -1)
        logits = x @ theta.T
        partition = logsumexp(logits, axis=1)
        value = np.mean(partition - np.sum(logits * targets, axis=1)) + 0.5 * l2 * np.sum(flat**2)
        slope = (np.exp(logits - partition[:, None]) - targets).T @ x / len(x) + l2 * theta
        return float(value), slope.ravel()

    start = np.zeros(n_classes * x.shape[1])
    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 50}
    answer = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)  # type: ignore[call-overload]
    return np.asarray(answer.x).reshape(n_classes, -1)


def _plain_newton(x: Matrix, labels: Rows, theta: Matrix, l2: float) -> float:
    errors = _plain_probabilities(x, theta)
    errors[np.arange(len(x)), labels] -= 1.0
    return float(np.linalg.norm(_plain_solve(x, theta, l2, errors.T @ x / len(x) + l2 * theta)))


def _plain_solve(x: Matrix, theta: Matrix, l2: float, rhs: Matrix) -> Vector:
    p = _plain_probabilities(x, theta)

    def product(flat: Matrix) -> Matrix:
        z = p * (x @ flat.reshape(theta.shape).T)
        z -= p * z.sum(axis=1, keepdims=True)
        return (z.T @ x / len(x)).ravel() + l2 * flat

    operator = LinearOperator((theta.size, theta.size), matvec=product, dtype=np.float64)
    return np.asarray(cg(operator, rhs.ravel(), rtol=1e-6, maxiter=10 * theta.size)[0])
