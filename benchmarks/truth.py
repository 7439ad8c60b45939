"""Whether a certificate says the truth.

For 40 % and 70 % removed (class balance as by default), `leanset.prune` issues a certificate. scikit-learn then fits the
same objective, mean cross-entropy + (l2/2)‖θ‖² with the bias penalised, on all rows and on the kept rows, from zero and
until no entry of the gradient exceeds 1e-10: features standardised by their own mean and standard deviation, a column of
ones appended, `LogisticRegression(solver="newton-cg", fit_intercept=False, C=1/(rows·l2), tol=1e-10)`. (On all rows,
lbfgs stops at a gradient ten thousand times larger; newton-cholesky gives the same head within 1e-8 but takes over ten
times as long.) Nothing of leanset takes part in that fit. Compared are the measured change of the head, the one that the
certificate's Newton step predicts, and the rise of the validation loss.
"""

import time

import numpy as np
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from benchmarks._data import L2, load_examples, prune
from benchmarks._record import Claim, Findings, Request, Row, at_most
from leanset.data import Examples

FRACTIONS = (0.4, 0.7)
SEED = 0
REFIT_TARGET = 0.01
NEWTON_TARGETS = {0.4: 0.10, 0.7: 0.20}


def run(request: Request) -> Findings:
    examples = load_examples(request)
    train, held_out = _designs(examples)
    full = _sklearn_head(train, examples.labels)
    rows = [_row(examples, fraction, train, held_out, full) for fraction in FRACTIONS]
    return Findings(rows, [SEED], [claim for row in rows for claim in _claims(row)])


def _claims(row: Row) -> list[Claim]:
    share = f"{row['fraction']:.0%} removed"
    return [
        at_most(f"{share}: refit change differs from scikit-learn's by", row["refit_difference"], REFIT_TARGET),
        at_most(f"{share}: Newton step is off by", row["newton_error"], NEWTON_TARGETS[row["fraction"]]),
    ]


def _row(examples: Examples, fraction: float, train: np.ndarray, held_out: np.ndarray, full: np.ndarray) -> Row:
    began = time.perf_counter()
    result = prune(examples, fraction=fraction, seed=SEED)
    seconds = time.perf_counter() - began
    kept, labels, promised = result.kept, examples.labels, result.certificate
    began = time.perf_counter()
    lean = _sklearn_head(train[kept], labels[kept])
    sklearn_seconds = time.perf_counter() - began
    assert examples.validation is not None
    val_labels = examples.validation.labels
    gap = _loss(held_out, val_labels, lean) - _loss(held_out, val_labels, full)
    change = float(np.linalg.norm(lean - full))
    return {
        "fraction": fraction,
        "refit_change": promised.refit_change,
        "sklearn_change": change,
        "refit_difference": abs(promised.refit_change - change) / change,
        "newton_change": promised.newton_change,
        "newton_error": abs(promised.newton_change - change) / change,
        "loss_gap": promised.validation_loss_gap,
        "sklearn_loss_gap": gap,
        "sklearn_gradient": max(_gradient(train, labels, full), _gradient(train[kept], labels[kept], lean)),
        "seconds": seconds,
        "sklearn_seconds": sklearn_seconds,
    }


def _designs(examples: Examples) -> tuple[np.ndarray, np.ndarray]:
    assert examples.validation is not None
    train = examples.features.astype(np.float64)
    mean, spread = train.mean(axis=0), train.std(axis=0)
    spread[spread == 0] = 1.0
    return tuple(  # type: ignore[return-value]
        np.column_stack([(part - mean) / spread, np.ones(len(part))]) for part in (train, examples.validation.features)
    )


def _sklearn_head(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    model = LogisticRegression(solver="newton-cg", fit_intercept=False, C=1.0 / (len(x) * L2), tol=1e-10, max_iter=1000)
    return np.asarray(model.fit(x, labels).coef_)


def _loss(x: np.ndarray, labels: np.ndarray, head: np.ndarray) -> float:
    return float(-log_softmax(x @ head.T, axis=1)[np.arange(len(x)), labels].mean())


def _gradient(x: np.ndarray, labels: np.ndarray, head: np.ndarray) -> float:
    errors = np.exp(log_softmax(x @ head.T, axis=1))
    errors[np.arange(len(x)), labels] -= 1.0
    return float(np.linalg.norm(errors.T @ x / len(x) + L2 * head))
