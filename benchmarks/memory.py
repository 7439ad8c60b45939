"""How much memory pruning takes beyond the data, absolutely and in units of the head's design.

A Gaussian mixture in float32 as in the growth benchmark: 200,000 examples of 128 features in 10 classes, made in a fresh
process. `leanset.prune(fraction=0.4, frontier=False)`, otherwise default settings (so up to 1 GiB for stored vectors, all
cores). `peak_gb` is that process's own largest resident set (`ru_maxrss`); `data_gb` that of a process that imports
leanset and makes the same data, no more; `added_gb` is the difference, which is what pruning takes, loading the compiled
kernels included. `designs` is the same in units of the design in float64, n·(d + 1)·8 bytes, that the head is fitted to.
Kernels are compiled beforehand, by a small run that is not measured. Three runs, each beside a fresh "data" process,
since threads make the peak differ a little from run to run.
"""

import json
import sys
from typing import Any

from benchmarks._growth_point import SEED
from benchmarks._measure import measured
from benchmarks._record import Findings, Request, Row

SHAPE, SMALL_SHAPE = (200_000, 128, 10), (10_000, 32, 10)  # examples, features, classes
COMPILING_SHAPE = (300, 4, 3)
RUNS, SMALL_RUNS = 3, 1
GB = 1e9


def run(request: Request) -> Findings:
    shape, runs = (SMALL_SHAPE, SMALL_RUNS) if request.small else (SHAPE, RUNS)
    _point("prune", COMPILING_SHAPE)
    return Findings([_row(nth, shape) for nth in range(1, runs + 1)], [SEED], [])


def _row(nth: int, shape: tuple[int, int, int]) -> Row:
    rows, width, n_classes = shape
    data, prune = _point("data", shape), _point("prune", shape)
    added, design = prune["peak_bytes"] - data["peak_bytes"], rows * (width + 1) * 8
    return {
        "run": nth,
        "examples": rows,
        "features": width,
        "classes": n_classes,
        "inverse": prune["inverse"],
        "seconds": prune["seconds"],
        "data_gb": data["peak_bytes"] / GB,
        "peak_gb": prune["peak_bytes"] / GB,
        "added_gb": added / GB,
        "design_gb": design / GB,
        "designs": added / design,
        "refit_change": prune["refit_change"],
    }


def _point(what: str, shape: tuple[int, int, int]) -> dict[str, Any]:
    # Started from a small interpreter: a process's own peak, too, begins at that of the process that started it.
    words = [sys.executable, "-m", "benchmarks._memory_point", what, *map(str, shape)]
    return json.loads(measured(words).output)  # type: ignore[no-any-return]
