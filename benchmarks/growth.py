"""How time and memory grow with the number of examples and with the size of the head.

Gaussian mixtures in float32, class centres three standard deviations apart, 5 % of the labels wrong; 40 % removed,
`leanset.prune(frontier=False, random_draws=2)`, otherwise default settings (so 1 GiB for stored vectors). Part "rows":
10,000 to 1,000,000 examples of 64 features and 10 classes. Part "head": 20,000 examples, heads of C classes and d + 1
inputs; up to C·D = 3,000 leanset inverts the exact Hessian, beyond that it steers by the Kronecker approximation, so
that part is two curves. Each point is a process of its own; its seconds are those of the `prune` call, its peak memory
the process's largest resident set, interpreter and data included. Exponents are slopes of straight lines fitted to the
logarithms. `growth.svg` and `growth.png` show the points.
"""

import json
import sys
from collections.abc import Iterator

import numpy as np

from benchmarks import _growth_point
from benchmarks._growth_plot import drawing
from benchmarks._measure import measured
from benchmarks._record import Findings, Request, Row

ROWS, WIDTH, CLASSES = (10_000, 30_000, 100_000, 300_000, 1_000_000), 64, 10
HEAD_ROWS, HEADS = 20_000, ((2, 64), (10, 64), (10, 256), (50, 64), (100, 128), (200, 64))
GB = 1e9


def run(request: Request) -> Findings:
    counts = (3_000, 10_000) if request.small else ROWS
    heads = HEADS[:2] if request.small else HEADS
    by_rows = [point("rows", n, WIDTH, CLASSES) for n in counts]
    by_head = [point("head", 3_000 if request.small else HEAD_ROWS, width, c) for c, width in heads]
    slopes = [*exponents(by_rows, "examples"), *exponents(by_head, "head_size")]
    files = drawing(by_rows, by_head, slopes)
    return Findings([*by_rows, *by_head, *slopes], [_growth_point.SEED], [], files)


def point(part: str, rows: int, width: int, n_classes: int) -> Row:
    words = [sys.executable, "-m", "benchmarks._growth_point", str(rows), str(width), str(n_classes)]
    usage = measured(words)
    answer = json.loads(usage.output)
    return {
        "part": part,
        "examples": rows,
        "features": width,
        "classes": n_classes,
        "head_size": n_classes * (width + 1),
        "inverse": answer["inverse"],
        "seconds": answer["seconds"],
        "peak_gb": usage.peak_bytes / GB,
        "refit_change": answer["refit_change"],
        "random_mean": answer["random_refit_change_mean"],
    }


def exponents(rows: list[Row], against: str) -> Iterator[Row]:
    for name in dict.fromkeys(row["inverse"] for row in rows):
        same = [row for row in rows if row["inverse"] == name]
        for quantity in ("seconds", "peak_gb"):
            if len(same) > 1:
                yield _exponent(same, against, quantity)


def _exponent(rows: list[Row], against: str, quantity: str) -> Row:
    x, y = (np.log([row[key] for row in rows]) for key in (against, quantity))
    slope, start = np.polyfit(x, y, 1)
    return {
        "part": "exponents",
        "of": quantity,
        "in": against,
        "inverse": rows[0]["inverse"],
        "points": len(rows),
        "exponent": float(slope),
        "factor": float(np.exp(start)),
    }
