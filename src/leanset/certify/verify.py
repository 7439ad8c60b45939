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
from scipy.special import logsumexp

from leanset._arrays import Matrix, Rows
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
    tolerance: float = 0.01,
) -> Iterator[Check]:
    """Check a removal and its certificate against the data, yielding one finding at a time.

    Parameters
    ----------
    examples : the data the run was made from
    kept, removed : row numbers as saved
    certificate : the saved certificate as a dict
    standardize : whether the run scaled its features
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
        yield from _verify_changes(examples, kept, removed, certificate, standardize, tolerance)


def _verify_changes(
    examples: Examples, kept: Rows, removed: Rows, certificate: dict[str, Any], standardize: bool, tolerance: float
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
    yield _random_scale(x, examples, len(removed), full, certificate)
    if examples.validation is None or certificate["validation_loss_gap"] is None:
        yield Check("loss gap", certificate["validation_loss_gap"] is None, "no validation data, none claimed")
        return
    val = _plain_design(examples.features, examples.validation.features, standardize)
    labels = examples.validation.labels
    gap = _plain_loss(val, labels, lean) - _plain_loss(val, labels, full)
    yield _close("loss gap", certificate["validation_loss_gap"], gap, tolerance, slack=1e-5)
    bound = certificate["first_order_bound"] + certificate["second_order_bound"]
    yield Check("bound", gap <= bound * (1 + tolerance) + 1e-9, f"gap {gap:+.6f} ≤ bound {bound:.6f}")


def _random_scale(x: Matrix, examples: Examples, count: int, full: Matrix, certificate: dict[str, Any]) -> Check:
    mean, spread = certificate["random_refit_change_mean"], certificate["random_refit_change_sd"]
    chosen = np.random.default_rng().permutation(len(examples))[count:]
    while len(np.unique(examples.labels[chosen])) < len(examples.classes):
        chosen[-1] = np.random.default_rng().integers(len(examples))
    fresh = float(
        np.linalg.norm(_plain_fit(x[chosen], examples.labels[chosen], len(examples.classes), certificate["l2"]) - full)
    )
    # One fresh draw, not stratified by class as the claimed ones are: this catches a wrong scale, not a wrong digit.
    holds = abs(fresh - mean) <= max(8 * spread, 0.5 * mean)
    return Check("random removals", holds, f"claimed {mean:.4g} ± {spread:.2g}, one fresh draw {fresh:.4g}")


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


def _plain_loss(x: Matrix, labels: Rows, theta: Matrix) -> float:
    logits = x @ theta.T
    return float(np.mean(logsumexp(logits, axis=1) - logits[np.arange(len(x)), labels]))


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
    logits = x @ theta.T
    p = np.exp(logits - logsumexp(logits, axis=1)[:, None])
    errors = p.copy()
    errors[np.arange(len(x)), labels] -= 1.0
    slope = errors.T @ x / len(x) + l2 * theta

    def product(flat: Matrix) -> Matrix:
        z = p * (x @ flat.reshape(theta.shape).T)
        z -= p * z.sum(axis=1, keepdims=True)
        return (z.T @ x / len(x)).ravel() + l2 * flat

    operator = LinearOperator((theta.size, theta.size), matvec=product, dtype=np.float64)
    return float(np.linalg.norm(cg(operator, slope.ravel(), rtol=1e-6, maxiter=10 * theta.size)[0]))
