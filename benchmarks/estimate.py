"""How far `leanset.estimate` (`leanset prune --dry-run`) is from the time that a run takes.

Each case is estimated and then run, one after the other, with the defaults of `leanset.prune` unless said otherwise, on one
thread. `seconds` is the time of the processor, which is that of the clock on a machine with nothing else to do. `factor` is
real over estimated, or the other way round if that is more. How many steps a fit takes and how early a search stops is known
to nobody before; that is what remains. The cases: tables of scikit-learn, normal features around class means, a linear
regression, eight labels an example, and the heads of two networks on CIFAR-10.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

import leanset
from benchmarks._data import load_examples
from benchmarks._record import Findings, Request, Row, at_most

SEED, LIMIT = 0, 1.5
Case = tuple[str, Any, Any, dict[str, Any]]


def run(request: Request) -> Findings:
    leanset.prune(
        *_classes(200, 4, 2), fraction=0.4, frontier=False, progress=False
    )  # what is compiled once is not timed
    rows = [_row(*case) for case in _cases(request)]
    worst = max(row["factor"] for row in rows)
    return Findings(rows, [SEED], [at_most("largest factor between estimated and real time", worst, LIMIT)])


def _row(name: str, features: Any, labels: Any, options: dict[str, Any]) -> Row:
    options = {"frontier": False, "seed": SEED, "threads": 1, "progress": False} | options
    began = time.process_time()
    expected = leanset.estimate(features, labels, **options).seconds
    estimated = time.process_time()
    leanset.prune(features, labels, **options)
    real = time.process_time() - estimated
    return {
        "case": name,
        "seconds": real,
        "estimate": expected,
        "factor": max(real / expected, expected / real),
        "seconds_of_estimating": estimated - began,
    }


def _cases(request: Request) -> Iterator[Case]:
    part = 10 if request.small else 1
    rng = np.random.default_rng(SEED)
    digits, cancer = load_digits(return_X_y=True), load_breast_cancer(return_X_y=True)
    yield "digits, 40 %", *digits, {"fraction": 0.4}
    yield "digits, 40 %, frontier", *digits, {"fraction": 0.4, "frontier": True}
    yield "digits, 90 %", *digits, {"fraction": 0.9}
    yield "digits, 40 %, EL2N", *digits, {"fraction": 0.4, "method": "el2n"}
    yield "digits, 70 %, weights", *digits, {"fraction": 0.7, "weights": True}
    yield "breast cancer, 70 %, frontier", *cancer, {"fraction": 0.7, "frontier": True}
    yield "breast cancer, same model", *cancer, {"same_model": True, "C": 1.0}
    if not request.small:
        yield "digits, 1 % of the head, frontier", *digits, {"relative_epsilon": 0.01, "frontier": True}
    yield "20,000 × 64, 10 classes", *_classes(20_000 // part, 64, 10), {"fraction": 0.4}
    features = rng.normal(size=(8000 // part, 40))
    numbers = features @ rng.normal(size=(40, 3)) + rng.normal(size=(len(features), 3))
    yield "8,000 × 40, three numbers", features, numbers, {"fraction": 0.5, "loss": "squared"}
    shown = features @ rng.normal(size=(40, 8)) + rng.normal(size=(len(features), 8)) > 1
    yield "8,000 × 40, eight labels", features, shown.astype(int), {"fraction": 0.5, "loss": "sigmoid"}
    yield "5,000 × 512, 100 classes", *_classes(5000 // part, 512 // part, 100 // part), {"fraction": 0.4}
    yield "CIFAR-10, ResNet-20", load_examples(request), None, {"fraction": 0.4}
    large = request.data.parent / "cifar10_effnet_head.npz"
    if large.is_file() and not request.small:
        with np.load(large) as head:
            yield (
                "CIFAR-10, EfficientNet, 5,000 rows",
                head["features"][:5000],
                head["labels"][:5000],
                {"fraction": 0.4},
            )


def _classes(n: int, width: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    labels = rng.permutation(n) % classes
    return rng.normal(size=(n, width)) + 0.3 * rng.normal(size=(classes, width))[labels], labels
