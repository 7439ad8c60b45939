"""From an npz file to a written certificate: wall seconds and peak memory of the command line.

`leanset prune DATA --fraction 0.4 --out FOLDER --quiet` in a process of its own, frontier included as by default: start
of the interpreter, reading, head, search, frontier, refits and all files. Once with an empty numba cache (the kernels
are compiled) and three times with the cache that this run filled; each run writes a new folder. Peak memory is the
process's own largest resident set. Claims speak of the slowest and the largest run.
"""

import json
import os
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._data import load_examples
from benchmarks._measure import measured
from benchmarks._record import Findings, Request, Row, at_most

FRACTION = 0.4
WARM_RUNS = 3
SECONDS_TARGET, MEMORY_TARGET = 60.0, 2.0
GB = 1e9


def run(request: Request) -> Findings:
    with tempfile.TemporaryDirectory() as folder:
        data = _data(request, Path(folder))
        cache = str(Path(folder, "numba"))
        kinds = ["compiling", *["compiled"] * (1 if request.small else WARM_RUNS)]
        rows = [_row(kind, data, cache, Path(folder, f"run-{nth}")) for nth, kind in enumerate(kinds)]
    claims = [
        at_most("seconds from npz to certificate", max(row["seconds"] for row in rows), SECONDS_TARGET),
        at_most("peak memory, GB", max(row["peak_gb"] for row in rows), MEMORY_TARGET),
    ]
    return Findings(rows, [0], claims)


def _data(request: Request, folder: Path) -> Path:
    examples = load_examples(request)  # also says so if the data is not there
    if not request.small:
        return request.data
    held_out, path = examples.validation, folder / "small.npz"
    assert held_out is not None
    np.savez(
        path,
        features=examples.features,
        labels=examples.labels,
        val_features=held_out.features,
        val_labels=held_out.labels,
    )
    return path


def _row(kind: str, data: Path, cache: str, out: Path) -> Row:
    command = [str(Path(sysconfig.get_path("scripts"), "leanset")), "prune", str(data), "--fraction", str(FRACTION)]
    usage = measured([*command, "--out", str(out), "--quiet"], env=os.environ | {"NUMBA_CACHE_DIR": cache})
    certificate = json.loads((out / "certificate.json").read_text())
    return {
        "kernels": kind,
        "seconds": usage.seconds,
        "peak_gb": usage.peak_bytes / GB,
        "removed": certificate["removed"],
        "refit_change": certificate["refit_change"],
        "random_mean": certificate["random_refit_change_mean"],
    }
