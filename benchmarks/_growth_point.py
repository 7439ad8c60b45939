"""One point of the growth benchmark, in a process of its own: `python -m benchmarks._growth_point ROWS FEATURES CLASSES`.

Makes a Gaussian mixture in float32, a small part of its labels wrong, prunes it, and prints what that took as JSON.
"""

import json
import sys
import time
from typing import Any

import numpy as np

import leanset

SEED = 0
FRACTION = 0.4
LABEL_NOISE = 0.05
SEPARATION = 3.0  # distance between two class centres, in standard deviations


def mixture(rows: int, width: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels; every class occurs."""
    rng = np.random.default_rng(SEED)
    centres = rng.standard_normal((n_classes, width), dtype=np.float32) * np.float32(SEPARATION / np.sqrt(2 * width))
    labels = rng.permutation(np.arange(rows) % n_classes)
    features = rng.standard_normal((rows, width), dtype=np.float32)
    for start in range(0, rows, 10_000):  # in parts, so that no second copy of the features shows in the peak
        features[start : start + 10_000] += centres[labels[start : start + 10_000]]
    wrong = rng.random(rows) < LABEL_NOISE
    labels[wrong] = rng.integers(0, n_classes, int(wrong.sum()))
    return features, labels


def main() -> None:
    rows, width, n_classes = map(int, sys.argv[1:])
    options: dict[str, Any] = {
        "fraction": FRACTION,
        "frontier": False,
        "random_draws": 2,
        "seed": SEED,
        "progress": False,
    }
    leanset.prune(*mixture(300, 4, 3), **options)  # loads the compiled kernels
    features, labels = mixture(rows, width, n_classes)
    began = time.perf_counter()
    certificate = leanset.prune(features, labels, **options).certificate
    seconds = time.perf_counter() - began
    kept = ("inverse", "refit_change", "random_refit_change_mean")
    print(json.dumps({"seconds": seconds} | {key: getattr(certificate, key) for key in kept}))


if __name__ == "__main__":
    main()
