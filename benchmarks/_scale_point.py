"""One point of the scale benchmark: `python -m benchmarks._scale_point WHAT STORE PLACE MEMORY`. Prints JSON.

WHAT is "passes" (seconds of single passes over the rows) or "prune" (a whole run). PLACE is "store" (the rows stay in the
store), "memory" (they are read into float32 first), or "local:N" (they stay in the store, N workers compute).
"""

import json
import resource
import sys
import time
from collections.abc import Callable

import numpy as np

import leanset
from benchmarks._measure import RSS_UNIT
from leanset._threads import working_threads
from leanset.data import Examples, open_source
from leanset.head import FittedHead, Softmax, design_of
from leanset.rows import LOCAL, StoreWriter, all_rows, as_table, computed_by, dask_cluster

L2, SEED, AT_ONCE, TIMES = 1e-2, 0, 2**15, 3


def write_store(path: str, rows: int, width: int, classes: int) -> None:
    """Write a Gaussian mixture in float16, chunk by chunk; 5 % of the labels are wrong."""
    columns = {"features": ((width,), np.float16), "labels": ((), np.int64)}
    writer, rng = StoreWriter.at(path, rows, columns), np.random.default_rng(SEED)
    centres = rng.standard_normal((classes, width), dtype=np.float32) * np.float32(3 / np.sqrt(2 * width))
    for start in range(0, rows, AT_ONCE):
        labels = rng.integers(0, classes, min(AT_ONCE, rows - start))
        features = rng.standard_normal((len(labels), width), dtype=np.float32) + 2 * centres[labels]
        wrong = rng.random(len(labels)) < 0.05
        labels[wrong] = rng.integers(0, classes, int(wrong.sum()))
        writer.write(features=features.astype(np.float16), labels=labels)
    writer.finish()


def main() -> None:
    what, store, place, memory = sys.argv[1:]
    answer = pruned(store, int(memory)) if what == "prune" else passes(store, place, int(memory))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT
    print(json.dumps(answer | {"peak_bytes": peak}))


def pruned(store: str, memory: int) -> dict[str, float]:
    began = time.perf_counter()
    result = leanset.prune(
        store, keep=0.1, weights=True, l2=L2, suspects="ignore", frontier=False, random_draws=2, memory=memory
    )
    taken = time.perf_counter() - began
    return {"seconds": taken, "kept": len(result.kept), "refit_change": result.certificate.refit_change}


def passes(store: str, place: str, memory: int) -> dict[str, float]:
    examples = open_source(store, features_memory=0)
    if place == "memory":
        examples = Examples(all_rows(as_table(examples.features)), examples.targets)
    with dask_cluster(place if place.startswith(LOCAL) else None) as engine, computed_by(engine), working_threads(None):
        loss = Softmax(len(examples.classes))
        design, _, _ = design_of(examples, loss, standardize=True, memory=memory)
        theta = 0.1 * np.random.default_rng(SEED).normal(size=design.shape)
        head = FittedHead.at(design, theta, L2)
        curvature = head.curvature()
        return {
            "product": _seconds(lambda: curvature.apply(theta[None])),
            "gradient": _seconds(lambda: head.gradient_sum(np.ones(len(design)), centred=False)),
            "loss": _seconds(lambda: design.mean_loss(theta)),
        }


def _seconds(work: Callable[[], object]) -> float:
    """Return the least seconds of a pass; the first one, which may send columns to workers, does not count."""
    work()
    times = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


if __name__ == "__main__":
    main()
