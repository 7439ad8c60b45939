"""Heads with more weights than examples: EfficientNet embeddings, and many classes.

Part "judged": 12,000 embeddings of a pretrained EfficientNet (1,280 features, 10 classes, 12,810 weights), l2 0.02, total
penalty, 40, 70 and 90 % removed: plain, with weights, and with weights for the least ‖Δθ‖ (`minimise="parameters"`; the
default minimises the rise of the loss, since fewer examples are kept than the head has weights). scikit-learn is the
judge: features standardised, a column of ones appended, `LogisticRegression(C=1/(n·l2), fit_intercept=False, tol=1e-6)` on
all rows, on the kept rows (with `sample_weight`) and on three random sets of equal size and equal class counts. Reported:
how many times less the head moves than after a random removal, the rise of the validation loss, and the share of unchanged
answers.
Part "cost": `leanset prune FILE --no-frontier`, a process of its own, from the npz file to the saved certificate: the same
embeddings, and 10,000 × 256 Gaussian classes with decaying variances, 77 classes (19,789 weights), l2 1e-3 and 1e-4.
"""

import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

import leanset
from benchmarks._measure import measured
from benchmarks._record import Claim, Findings, Request, Row, at_least, at_most
from benchmarks.random_sets import archive, embeddings

SEED, L2, DRAWS = 0, 0.02, 3
HOW = ((False, None), (True, None), (True, "parameters"))  # weights, minimise
LESS = {0.4: 10.0, 0.7: 3.0, 0.9: 1.2}  # times less than random that the head should move
SECONDS, GB = {"EfficientNet": 180.0, "77 classes": 90.0}, 2.0


def run(request: Request) -> Findings:
    data = archive(request.data.parent / "cifar10_effnet_head.npz")
    if request.small:
        data = tuple(part[:600] for part in data)  # type: ignore[assignment]
    judged = _Judge(*data)
    rows = [judged.row(fraction, *how) for fraction in LESS for how in HOW]
    costs = [] if request.small else _costs(request)
    return Findings(
        [*rows, *costs], [SEED], [*(claim for row in rows for claim in _claims(row)), *map(_in_time, costs)]
    )


def _claims(row: Row) -> list[Claim]:
    """Return what is claimed of the aim that the row has."""
    kind = f"{row['removed']:.0%} removed, {'weights' if row['weights'] else 'plain'}"
    if row["minimised"] == "parameters":
        return [
            at_least(f"{kind}: times less than random that the head moves", row["times_less"], LESS[row["removed"]])
        ]
    return [at_most(f"{kind}: rise of the loss, as a share of random's", row["loss_gap"] / row["random_loss_gap"], 0.5)]


def _in_time(row: Row) -> Claim:
    return at_most(f"{row['data']}, l2 {row['l2']:g}: seconds", row["seconds"], SECONDS[row["data"]])


class _Judge:
    """scikit-learn's heads on one data set."""

    def __init__(
        self, features: np.ndarray, labels: np.ndarray, held_out: np.ndarray, held_out_labels: np.ndarray
    ) -> None:
        self.features, self.labels, self.held_out, self.held_out_labels = features, labels, held_out, held_out_labels
        mean, spread = features.mean(axis=0, dtype=np.float64), features.astype(np.float64).std(axis=0)
        spread[spread == 0] = 1.0
        self.x, self.judged = (
            np.column_stack([(part - mean) / spread, np.ones(len(part))]) for part in (features, held_out)
        )
        self.full = self._head(np.arange(len(labels)), None)

    def row(self, fraction: float, weights: bool, minimise: str | None) -> Row:
        result = leanset.prune(
            self.features,
            self.labels,
            validation=(self.held_out, self.held_out_labels),
            fraction=fraction,
            weights=weights,
            minimise=minimise,
            l2=L2,
            penalty="total",
            seed=SEED,
            frontier=False,
            progress=False,
        )
        lean, drawn = self._head(result.kept, result.weights), self._random_heads(len(result.kept))
        row: Row = {
            "part": "judged",
            "removed": fraction,
            "weights": weights,
            "minimised": result.certificate.minimised,
        }
        row |= self._measures(lean)
        for name in ("change", "loss_gap", "same_answers", "accuracy_change"):
            row[f"random_{name}"] = float(np.mean([self._measures(head)[name] for head in drawn]))
        return row | {"times_less": row["random_change"] / row["change"]}

    @cache  # noqa: B019  # the judge lives as long as the benchmark
    def _random_heads(self, count: int) -> list[np.ndarray]:
        split = StratifiedShuffleSplit(DRAWS, train_size=count, random_state=SEED)
        return [self._head(np.sort(kept), None) for kept, _ in split.split(self.x, self.labels)]

    def _measures(self, head: np.ndarray) -> dict[str, float]:
        before, after = self.judged @ self.full.T, self.judged @ head.T
        right = [(outputs.argmax(axis=1) == self.held_out_labels).mean() for outputs in (before, after)]
        return {
            "change": float(np.linalg.norm(head - self.full)),
            "loss_gap": self._loss(after) - self._loss(before),
            "same_answers": float((before.argmax(axis=1) == after.argmax(axis=1)).mean()),
            "accuracy_change": float(right[1] - right[0]),
        }

    def _loss(self, outputs: np.ndarray) -> float:
        highest = outputs.max(axis=1, keepdims=True)
        own = outputs[np.arange(len(outputs)), self.held_out_labels]
        return float((np.log(np.exp(outputs - highest).sum(axis=1)) + highest[:, 0] - own).mean())

    def _head(self, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        model = LogisticRegression(C=1 / (len(self.labels) * L2), fit_intercept=False, tol=1e-6, max_iter=5000)
        return np.asarray(model.fit(self.x[rows], self.labels[rows], sample_weight=weights).coef_)


def _costs(request: Request) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        many = Path(folder) / "many.npz"
        names = ("features", "labels", "val_features", "val_labels")
        np.savez(many, **dict(zip(names, embeddings(10_000, 256, 77, 0.0, 0.6), strict=True)))
        effnet = request.data.parent / "cifar10_effnet_head.npz"
        return [
            _cost("EfficientNet", effnet, L2, folder),
            _cost("77 classes", many, 1e-3, folder),
            _cost("77 classes", many, 1e-4, folder),
        ]


def _cost(name: str, source: Path, l2: float, folder: str) -> Row:
    out = Path(folder) / f"{name}-{l2}"
    words = [
        str(Path(sys.executable).parent / "leanset"),
        "prune",
        str(source),
        "--fraction",
        "0.7",
        "--l2",
        str(l2),
        "--no-frontier",
        "--quiet",
        "--out",
    ]
    usage = measured([*words, str(out)])
    certificate = leanset.load(out).certificate
    return {
        "part": "cost",
        "data": name,
        "l2": l2,
        "seconds": usage.seconds,
        "peak_gb": usage.peak_bytes / 1e9,
        "loss_gap": certificate.validation_loss_gap,
        "random_loss_gap": certificate.random_validation_loss_gap,
    }
