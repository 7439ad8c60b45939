"""Degenerate data sets: each is refused with a reason, or its answer stands up to a refit that shares no code."""

import argparse
import math
import sys
import time
import warnings
from collections import Counter
from dataclasses import asdict

import numpy as np
from scipy.special import expit, softmax

import leanset

TOLERANCE = 0.01  # relative, of a change; and 1e-5 of the head, below which a change cannot be told from none
ROUNDING = 1e-15  # of a head whose every weight is zero
SETTLED = 1e-9  # relative gradient at which the judge has found the minimum


def _plain(rng, n, d):
    return rng.normal(size=(n, d))


def _constant(rng, n, d):
    features = rng.normal(size=(n, d))
    features[:, rng.integers(d)] = rng.choice([0.0, 1.0, -7.5, 1e9])
    return features


def _zeros(rng, n, d):
    return np.zeros((n, d))


def _twins(rng, n, d):
    return np.repeat(rng.normal(size=(n, 1)), d, axis=1)


def _near_twins(rng, n, d):
    return rng.normal(size=(n, 1)) + 1e-9 * rng.normal(size=(n, d))


def _same_rows(rng, n, d):
    return rng.normal(size=(max(1, n // 6), d))[rng.integers(0, max(1, n // 6), n)]


def _far_away(rng, n, d):
    return rng.normal(size=(n, d)) + 10.0 ** rng.integers(3, 9)


def _large_or_small(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-200, 200, d)


def _outlier(rng, n, d):
    features = rng.normal(size=(n, d))
    features[rng.integers(n)] *= 10.0 ** rng.integers(2, 9)
    return features


def _bytes(rng, n, d):
    return rng.integers(0, 256, (n, d), dtype=np.uint8)


def _truths(rng, n, d):
    return rng.random((n, d)) < 0.5


def _subnormal(rng, n, d):
    return rng.normal(size=(n, d)) * 1e-310


def _sparse(rng, n, d):
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.1)


def _half(rng, n, d):
    return rng.normal(size=(n, d)).astype(np.float16)


_FEATURES = (
    *(_plain, _constant, _zeros, _twins, _near_twins, _same_rows, _far_away, _large_or_small, _outlier),
    *(_bytes, _truths, _subnormal, _sparse, _half),
)


def _classes(rng, n, features):
    outputs = int(rng.integers(2, 5))
    how = rng.integers(4)
    if how == 0:
        return rng.integers(0, outputs, n)
    if how == 1:  # one example of each class but one
        return np.where(np.arange(n) < outputs - 1, np.arange(n) + 1, 0)
    if how == 2:  # separable
        first = np.asarray(features, dtype=np.float64)[:, 0]
        return (first > np.median(first)).astype(int)
    return np.sort(rng.integers(0, outputs, n))


def _labels(rng, n, features):
    return (rng.random((n, rng.integers(1, 4))) < rng.choice([0.1, 0.5, 0.9])).astype(int)


def _numbers(rng, n, features):
    return rng.normal(size=n) * 10.0 ** rng.integers(-90, 90) + rng.choice([0.0, 1.0, 1e6])


_TARGETS = {"softmax": _classes, "sigmoid": _labels, "squared": _numbers}


def data_set(nth):
    """Return features, labels and options of the nth data set."""
    rng = np.random.default_rng([7, nth])
    n, d, loss = (
        int(rng.integers(4, 50)),
        int(rng.integers(1, 6)),
        ("softmax", "softmax", "sigmoid", "squared")[nth % 4],
    )
    features = _FEATURES[rng.integers(len(_FEATURES))](rng, n, d)
    labels = _TARGETS[loss](rng, n, features)
    options = {"loss": loss, "seed": nth, "standardize": bool(rng.random() < 0.7)}
    options |= {"l2": [None, 1e-8, 1e-3, 1.0, 1e6, 0.0][rng.integers(6)], "penalise_bias": bool(rng.random() < 0.6)}
    options |= {"penalty": str(rng.choice(["mean", "total"])), "weights": bool(rng.random() < 0.2)}
    options |= [{"fraction": 0.3}, {"count": 1}, {"keep": 0.5}, {"relative_epsilon": 0.1}, {"fraction": 0.9}][
        rng.integers(5)
    ]
    if rng.random() < 0.3:
        options["validation"] = (features[: n // 2], labels[: n // 2])
    if rng.random() < 0.2:
        options["class_balance"] = "none"
    return features, labels, options


class Judge:
    """A head by damped Newton steps with the whole Hessian, from the formulas and in float64."""

    def __init__(self, features, labels, options, penalised):
        x = np.asarray(features, dtype=np.float64)
        if options["standardize"] or not penalised:
            peak = np.maximum(np.abs(x).max(axis=0), np.finfo(np.float64).tiny)
            mean = (x / peak).mean(axis=0) * peak
            spread = (x / peak - mean / peak).std(axis=0) * peak
            constant = spread <= 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
            x = (x - mean) / (np.where(constant, 1.0, spread) if options["standardize"] else 1.0)
        self.x = np.column_stack([x, np.ones(len(x))])
        self.loss, self.penalised = options["loss"], penalised
        self.y = np.asarray(labels)
        if self.loss == "softmax":
            self.y = (self.y[:, None] == np.unique(self.y)).astype(np.float64)
        self.y = self.y.reshape(len(x), -1).astype(np.float64)

    def predicted(self, z):
        return {"softmax": lambda: softmax(z, axis=1), "sigmoid": lambda: expit(z), "squared": lambda: z}[self.loss]()

    def value(self, z):
        if self.loss == "squared":
            return 0.5 * np.square(z - self.y).sum(axis=1)
        if self.loss == "sigmoid":
            return (np.logaddexp(0.0, z) - self.y * z).sum(axis=1)
        return np.logaddexp.reduce(z, axis=1) - (self.y * z).sum(axis=1)

    def curvature(self, p, w):
        """Return the Hessian of the weighted mean loss, ordered by output and column."""
        outputs, width = p.shape[1], self.x.shape[1]
        whole = np.zeros((outputs, width, outputs, width))
        for a in range(outputs):
            for b in range(outputs):
                each = {
                    "softmax": lambda a=a, b=b: p[:, a] * ((a == b) - p[:, b]),
                    "sigmoid": lambda a=a, b=b: (a == b) * p[:, a] * (1 - p[:, a]),
                    "squared": lambda a=a, b=b: np.full(len(p), float(a == b)),
                }[self.loss]()
                whole[a, :, b, :] = (self.x * (w * each)[:, None]).T @ self.x
        return whole.reshape(outputs * width, -1)

    def fitted(self, l2, weights):
        """Return the head at the minimum, or None if the steps do not settle."""
        theta = self._descended(l2, weights)
        if theta is not None and self.loss == "softmax":
            theta = theta - theta.mean(
                axis=0
            )  # what all classes share changes no probability, and a free bias may have it
        return theta

    def error(self, theta, l2, weights):
        """Return how far a head may be from the minimum: the slope there, divided by the least curvature, l2."""
        if l2 <= 0:
            return 0.0
        w = weights / weights.sum()
        slope = (w[:, None] * (self.predicted(self.x @ theta.T) - self.y)).T @ self.x
        slope[:, :-1] += l2 * theta[:, :-1]
        slope[:, -1] += l2 * theta[:, -1] if self.penalised else 0.0
        return float(np.linalg.norm(slope) / l2)

    def _descended(self, l2, weights):
        w = weights / weights.sum()
        ridge = np.full(self.x.shape[1], l2)
        ridge[-1] = l2 if self.penalised else 0.0
        unit = np.sqrt(w @ self.x**2 + ridge)  # columns of like size, or the Hessian is singular in float64
        unit[unit == 0] = 1.0
        theta = np.zeros((self.y.shape[1], self.x.shape[1]))
        for _ in range(300):
            z = self.x @ theta.T
            p = self.predicted(z)
            terms = np.abs(w[:, None] * (p - self.y)).T @ np.abs(self.x) + np.abs(ridge * theta)
            slope = (w[:, None] * (p - self.y)).T @ self.x + ridge * theta
            if (np.abs(slope) <= SETTLED * np.maximum(terms, 1e-300)).all():
                return theta
            hessian = self.curvature(p, w) + np.diag(np.tile(ridge, len(theta)))
            scale = np.tile(unit, len(theta))
            step = np.linalg.lstsq(hessian / np.outer(scale, scale), slope.ravel() / scale, rcond=1e-14)[0] / scale
            step = step.reshape(theta.shape)
            now, length = w @ self.value(z) + 0.5 * (ridge * theta**2).sum(), 1.0
            while length > 1e-6:
                next_theta = theta - length * step
                then = w @ self.value(self.x @ next_theta.T) + 0.5 * (ridge * next_theta**2).sum()
                if then <= now + 1e-12 * abs(now):
                    break
                length /= 2
            if np.linalg.norm(length * step * unit) <= 1e-13 * np.linalg.norm(theta * unit):
                return theta - length * step
            theta = theta - length * step
        return None


def judged(nth):
    """Prune the nth data set; return the outcome in a word, or what is wrong with the answer."""
    features, labels, options = data_set(nth)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quick = {"proposals": 500, "random_draws": 2, "frontier": False, "threads": 1, "progress": False}
            result = leanset.prune(features, labels, **options, **quick)
    except leanset.LeansetError:
        return "refused"
    except Exception as error:
        return f"{nth}: {type(error).__name__}: {error}"
    certificate = result.certificate
    odd = [name for name, value in asdict(certificate).items() if isinstance(value, float) and not math.isfinite(value)]
    if odd:
        return f"{nth}: not finite: {', '.join(odd)}"
    rows = np.sort(np.concatenate([result.kept, result.removed]))
    if not np.array_equal(rows, np.arange(len(features))):
        return f"{nth}: kept and removed rows are not all rows"
    if options["loss"] == "softmax" and set(np.asarray(labels)[result.kept]) != set(np.asarray(labels)):
        return f"{nth}: a class is gone"
    judge = Judge(features, labels, options, certificate.penalised_bias)
    with np.errstate(all="ignore"):
        full = judge.fitted(certificate.l2, np.ones(len(features)))
        lean = judge.fitted(certificate.train_l2, result.weight)
    if full is None or lean is None:
        return "not judged"
    norm, change = np.linalg.norm(full), np.linalg.norm(lean - full)
    error = judge.error(full, certificate.l2, np.ones(len(features)))
    error += judge.error(lean, certificate.train_l2, result.weight)
    if error > TOLERANCE * norm + ROUNDING:
        return "not judged"
    slack = 1e-5 * norm + certificate.refit_error_bound + error + ROUNDING
    for name, said, found in (("head", certificate.head_norm, norm), ("change", certificate.refit_change, change)):
        if not abs(said - found) <= TOLERANCE * found + slack:
            return f"{nth}: {name}: said {said:.6g}, found {found:.6g} (head {norm:.6g})"
    return "right"


def counted(numbers):
    """Judge data sets; return how often each outcome came, and what is wrong."""
    seen, wrong = Counter(), []
    for nth in numbers:
        outcome = judged(nth)
        if ":" in outcome:
            wrong.append(outcome)
        seen["wrong" if ":" in outcome else outcome] += 1
    return seen, wrong


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.faults degenerate", description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args(argv)
    began = time.monotonic()
    seen, wrong = counted(range(given.first, given.first + given.count))
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    words = ", ".join(f"{number:,} {word}" for word, number in sorted(seen.items()))
    sys.stdout.write(f"degenerate: {given.count:,} data sets: {words}; {time.monotonic() - began:.0f} s.\n")
    return int(bool(wrong))
