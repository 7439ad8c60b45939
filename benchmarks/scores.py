"""Seconds that each pruning method of the literature takes to say which examples go, class by class.

50,000 examples in 10 classes, 512 normal features, two runs of 30 epochs of invented dynamics; 40 % of each class goes.
Evidence is there already: what is timed is the method alone, one class after the other, on all cores. Speed does not
depend on what the numbers mean; the invented ones say nothing about which method prunes well.
"""

import time

import numpy as np

from benchmarks._record import Findings, Request, Row, at_most
from leanset._rng import stream
from leanset._threads import working_threads
from leanset.data import Dynamics
from leanset.head import Softmax
from leanset.scores import METHODS, Evidence, Method, method_named

CLASSES, FRACTION, SEED = 10, 0.4, 0
ROWS, COLUMNS, SMALL_ROWS, SMALL_COLUMNS = 50_000, 512, 1_000, 16
RUNS, EPOCHS = 2, 30
SECONDS_TARGET = 20.0


def run(request: Request) -> Findings:
    rows, columns = (SMALL_ROWS, SMALL_COLUMNS) if request.small else (ROWS, COLUMNS)
    evidence = _evidence(rows, columns)
    table: list[Row] = [
        {"method": name, "seconds": seconds_taken(method_named(name), evidence), "rows": rows, "columns": columns}
        for name in METHODS
    ]
    slowest = max(row["seconds"] for row in table)
    claim = at_most("seconds of the slowest method", slowest, SECONDS_TARGET)
    return Findings(table, [SEED], [claim])


def seconds_taken(method: Method, evidence: Evidence) -> float:
    classes = [evidence.take(np.flatnonzero(evidence.groups == c)) for c in np.unique(evidence.groups)]
    with working_threads(None):
        began = time.perf_counter()
        for nth, part in enumerate(classes):
            method.preference(part, int(FRACTION * len(part)), stream(SEED, method.name, nth))
        return time.perf_counter() - began


def _evidence(rows: int, columns: int) -> Evidence:
    rng = stream(SEED, "scores benchmark")
    groups = np.arange(rows) % CLASSES
    probability = rng.dirichlet(np.ones(CLASSES), rows)
    return Evidence(
        groups=groups,
        features=rng.normal(size=(rows, columns)).astype(np.float32),
        errors=Softmax(CLASSES).residual(probability, groups),
        dynamics=tuple(_dynamics(rng, rows) for _ in range(RUNS)),
        gradient_norm=rng.random(rows),
        influence_norm=rng.random(rows),
    )


def _dynamics(rng: np.random.Generator, rows: int) -> Dynamics:
    probability = rng.random((EPOCHS, rows), dtype=np.float32)
    return Dynamics(probability > 0.5, probability, 2 * probability - 1, 1 - probability)
