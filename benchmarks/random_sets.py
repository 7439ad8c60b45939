"""Is the default answer ever worse than a random set? Fourteen data sets, 20, 40, 70 and 90 % removed.

`leanset.prune(features, labels, fraction=..., validation=...)` with no other option (the l2 that the first run chooses is given
to the others on the same data), and at 70 and 90 % with `weights=True`, too.
Each certificate compares the refitted head with the heads of five random sets of equal size and equal class counts under
the same penalty: the mean validation loss of ours minus theirs, with a 95 % interval over validation examples and draws.
A case is *worse* if the whole interval is above zero, *better* if it is below. The share of unchanged answers is compared,
too. Data: scikit-learn's sets; synthetic classes with 0, 5 and 20 % wrong labels (in the validation data, too); embeddings
with decaying variances and 5 % wrong labels; well separated blobs; features of a trained ResNet-20 with clean and with
human noisy labels; embeddings of a pretrained EfficientNet; many classes. 500 to 50,000 examples, 42 to 40,100 weights.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs, make_classification
from sklearn.model_selection import train_test_split

import leanset
from benchmarks._record import Claim, Findings, Request, Row, at_least, at_most

SEED = 0
FRACTIONS, WEIGHTED = (0.2, 0.4, 0.7, 0.9), (0.7, 0.9)
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def run(request: Request) -> Findings:
    rows = []
    for name, load in _sets(request).items():
        data, l2 = load(), None
        for fraction in FRACTIONS[-1:] if request.small else FRACTIONS:
            for weights in (False, True) if fraction in WEIGHTED else (False,):
                rows.append(_row(name, data, fraction, weights, l2))
                l2 = rows[-1]["l2"]  # the default's own choice, which depends on the data only
                print(_line(rows[-1]), flush=True)
    return Findings(rows, [SEED], [claim for weights in (False, True) for claim in _claims(rows, weights)])


def _claims(rows: list[Row], weights: bool) -> list[Claim]:
    cases, name = [row for row in rows if row["weights"] == weights], "with weights" if weights else "plain"
    worse = sum(row["loss_above_random_low"] > 0 for row in cases)
    fewer = sum(row["same_answers"] < row["random_same_answers"] - 0.005 for row in cases)
    better = sum(row["loss_above_random_high"] < 0 for row in cases)
    return [
        at_most(f"{name}: cases of {len(cases)} with a higher validation loss than random, beyond noise", worse, 0),
        at_most(f"{name}: cases of {len(cases)} with fewer unchanged answers than random (by half a point)", fewer, 0),
        at_least(f"{name}: cases of {len(cases)} with a lower validation loss than random, beyond noise", better, 1),
    ]


def _row(name: str, data: Data, fraction: float, weights: bool, l2: float | None) -> Row:
    features, labels, held_out, held_out_labels = data
    began = time.perf_counter()
    certificate = leanset.prune(
        features,
        labels,
        validation=(held_out, held_out_labels),
        fraction=fraction,
        weights=weights,
        l2=l2,
        seed=SEED,
        frontier=False,
        progress=False,
    ).certificate
    return {
        "data": name,
        "n": len(features),
        "weights_of_the_head": len(np.unique(labels)) * (features.shape[1] + 1),
        "fraction": fraction,
        "weights": weights,
        "l2": certificate.l2,
        "minimised": certificate.minimised,
        "loss_gap": certificate.validation_loss_gap,
        "random_loss_gap": certificate.random_validation_loss_gap,
        "loss_above_random": certificate.loss_above_random,
        "loss_above_random_low": certificate.loss_above_random_low,
        "loss_above_random_high": certificate.loss_above_random_high,
        "accuracy_change": certificate.validation_accuracy_change,
        "random_accuracy_change": certificate.random_validation_accuracy_change,
        "same_answers": certificate.validation_same_answers,
        "random_same_answers": certificate.random_validation_same_answers,
        "change": certificate.refit_change,
        "random_change": certificate.random_refit_change_mean,
        "seconds": time.perf_counter() - began,
    }


def _line(row: Row) -> str:
    return (
        f"{row['data']:>22} {row['fraction']:.0%} {'weights' if row['weights'] else 'plain':>7}: loss {row['loss_gap']:+.4f}, "
        f"random {row['random_loss_gap']:+.4f}; same answers {row['same_answers']:.2%}, random "
        f"{row['random_same_answers']:.2%}; {row['seconds']:.0f} s"
    )


def _sets(request: Request) -> dict[str, Callable[[], Data]]:
    small = {
        "breast cancer": lambda: _split(*load_breast_cancer(return_X_y=True)),
        "digits": lambda: _split(*load_digits(return_X_y=True)),
        "500 rows, 5 % wrong": lambda: _classes(500, 20, 2, 0.05),
    }
    if request.small:
        return small
    folder = request.data.parent
    return small | {
        "2,000 rows": lambda: _classes(2000, 40, 5, 0.0),
        "2,000 rows, 5 % wrong": lambda: _classes(2000, 40, 5, 0.05),
        "2,000 rows, 20 % wrong": lambda: _classes(2000, 40, 5, 0.2),
        "blobs": lambda: _split(*make_blobs(7000, 50, centers=10, cluster_std=6, random_state=SEED)),
        "embeddings, 384": lambda: embeddings(10_000, 384, 10, 0.05, 0.6),
        "embeddings, 768": lambda: embeddings(20_000, 768, 10, 0.05, 0.6),
        "ResNet-20": lambda: _stored(folder, None),
        "ResNet-20, noisy": lambda: _stored(folder, "worse_label"),
        "EfficientNet": lambda: archive(folder / "cifar10_effnet_head.npz"),
        "77 classes": lambda: embeddings(10_000, 256, 77, 0.0, 1.2),
        "100 classes, 5 % wrong": lambda: embeddings(8000, 400, 100, 0.05, 1.2),
    }


def _split(features: np.ndarray, labels: np.ndarray, wrong: float = 0.0) -> Data:
    train, test, train_labels, test_labels = train_test_split(
        features, labels, test_size=0.3, random_state=SEED, stratify=labels
    )
    rng, classes = np.random.default_rng(SEED), len(np.unique(labels))
    return train, _spoilt(train_labels, wrong, classes, rng), test, _spoilt(test_labels, wrong, classes, rng)


def _spoilt(labels: np.ndarray, share: float, classes: int, rng: np.random.Generator) -> np.ndarray:
    other = (labels + rng.integers(1, classes, len(labels))) % classes
    return np.where(rng.random(len(labels)) < share, other, labels)


def _classes(n: int, width: int, classes: int, wrong: float) -> Data:
    features, labels = make_classification(
        int(n / 0.7),
        width,
        n_informative=width // 2,
        n_redundant=width // 5,
        n_classes=classes,
        n_clusters_per_class=1,
        flip_y=0.0,
        random_state=SEED,
    )
    return _split(features, labels, wrong)


def embeddings(n: int, width: int, classes: int, wrong: float, spread: float) -> Data:
    """Gaussian classes whose variances decay as 1/k along directions turned at random."""
    rng, rows = np.random.default_rng(SEED), int(n / 0.7)
    deviations = (1.0 + np.arange(width)) ** -0.5
    centres, labels = spread * deviations * rng.normal(size=(classes, width)), rng.integers(0, classes, rows)
    turned = np.linalg.qr(rng.normal(size=(width, width)))[0]
    return _split((centres[labels] + deviations * rng.normal(size=(rows, width))) @ turned, labels, wrong)


def archive(path: Path) -> Data:
    with np.load(path) as stored:
        return stored["features"], stored["labels"], stored["val_features"], stored["val_labels"]


def _stored(folder: Path, noisy: str | None) -> Data:
    features, labels, held_out, held_out_labels = archive(folder / "cifar10_resnet20_head.npz")
    if noisy is not None:
        with np.load(folder / "cifar-10n.npz") as stored:
            labels = stored[noisy]
    return features, labels, held_out, held_out_labels
