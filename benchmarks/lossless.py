"""The same head from a part of the data: `weights=True` and `same_model=True`.

`leanset.prune` chooses the examples to keep and weights for them within [1/5, 5]; `same_model` finds how few are enough.
scikit-learn is the judge. It fits all rows, and the kept rows with `sample_weight`, with the same `C`: features standardised
by their own mean and standard deviation, a column of ones appended, `LogisticRegression(solver="newton-cg",
fit_intercept=False, tol=1e-10)`. Reported are ‖Δθ‖/‖θ‖ between the two, the share of validation examples whose predicted
class stays, the same two for a random set of equal size without weights, and how many examples always suffice:
(C−1)·D + 1 (Carathéodory).
"""

import time

import numpy as np
from sklearn.linear_model import LogisticRegression

import leanset
from benchmarks._data import load_examples
from benchmarks._record import Claim, Findings, Request, Row, at_most
from leanset.data import Examples

SEED = 0
CASES = (
    (1e-4, {"fraction": 0.9}),
    (1e-4, {"fraction": 0.95}),
    (1e-2, {"fraction": 0.8}),
    (1e-2, {"fraction": 0.9}),
    (1e-4, {"same_model": True, "class_balance": "none"}),
)
TARGET = 1e-8  # of ‖θ‖


def run(request: Request) -> Findings:
    examples = load_examples(request)
    heads: dict[float, np.ndarray] = {}
    rows = []
    for l2, options in CASES:
        if l2 not in heads:
            heads[l2] = _head(examples, l2, np.arange(len(examples)), None)
        rows.append(_row(examples, l2, options, heads[l2]))
    return Findings(rows, [SEED], [_claim(row) for row in rows])


def _claim(row: Row) -> Claim:
    return at_most(f"l2 {row['l2']:g}, {row['removed']:.1%} removed: ‖Δθ‖/‖θ‖ by scikit-learn", row["change"], TARGET)


def _row(examples: Examples, l2: float, options: dict[str, object], full: np.ndarray) -> Row:
    began = time.perf_counter()
    result = leanset.prune(
        examples,
        l2=l2,
        weights=True,
        penalty="total",
        seed=SEED,
        frontier=False,
        progress=False,
        **options,  # type: ignore[arg-type]
    )
    seconds = time.perf_counter() - began
    lean = _head(examples, l2, result.kept, result.weights)
    drawn = np.sort(np.random.default_rng(SEED).permutation(len(examples))[: len(result.kept)])
    random = _head(examples, l2, drawn, None)
    return {
        "l2": l2,
        "removed": len(result.removed) / len(examples),
        "kept": len(result.kept),
        "always_enough": (full.shape[0] - 1) * full.shape[1] + 1,
        "change": float(np.linalg.norm(lean - full) / np.linalg.norm(full)),
        "same_answers": _agreement(examples, lean, full),
        "random_change": float(np.linalg.norm(random - full) / np.linalg.norm(full)),
        "random_same_answers": _agreement(examples, random, full),
        "least_weight": result.certificate.least_weight,
        "largest_weight": result.certificate.largest_weight,
        "effective_size": result.certificate.effective_size,
        "seconds": seconds,
    }


def _design(examples: Examples, features: np.ndarray) -> np.ndarray:
    reference = examples.features.astype(np.float64)
    scaled = (features.astype(np.float64) - reference.mean(axis=0)) / reference.std(axis=0)
    return np.column_stack([scaled, np.ones(len(features))])


def _head(examples: Examples, l2: float, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    model = LogisticRegression(
        C=1 / (len(examples) * l2), fit_intercept=False, tol=1e-10, max_iter=10_000, solver="newton-cg"
    )
    x = _design(examples, examples.features)[rows]
    return np.asarray(model.fit(x, examples.labels[rows], sample_weight=weights).coef_)


def _agreement(examples: Examples, one: np.ndarray, other: np.ndarray) -> float:
    assert examples.validation is not None
    x = _design(examples, examples.validation.features)
    return float(((x @ one.T).argmax(axis=1) == (x @ other.T).argmax(axis=1)).mean())
