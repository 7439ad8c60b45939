"""Rows that do not fit into memory: seconds of a pass, peak memory of a run, and a model that predicts larger ones.

Gaussian mixtures in float16, written to a Zarr store with checksums chunk by chunk. Every point is a process of its own, on
all cores, with `memory` at 4 GB; its peak is its largest resident set. A pass is one product with the Hessian ("product"),
one weighted sum of gradients ("gradient") or one mean loss ("loss"), the least of three. Part "wide": 512 features and 100
classes, from the store and from float32 in memory. Part "long": 64 features and 10 classes, from the store; a line through
the two smaller sizes predicts the largest, for each kind of pass; `memory` grows with the rows up to 4 GB, so that all sizes
store and read the same. Part "workers": the product of the wide rows on one and on
two Dask workers. Part "run": `leanset.prune(keep=0.1, weights=True, l2=1e-2, suspects="ignore", random_draws=2,
frontier=False)` on the long rows. Part "whole": the same on the wide rows, of two sizes.

Each point is saved in the folder "scale" beside the record as soon as it is measured, with the machine and its load, and is
not measured again: a run that was stopped goes on. `--only PART` measures one part; the record has all points that are known.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks._measure import measured
from benchmarks._record import Claim, Findings, Request, Row, at_least, at_most
from benchmarks._scale_point import SEED, write_store
from leanset.report.machine import load, machine

WIDE, LONG = (512, 100), (64, 10)  # features, classes
ROWS = {
    "wide": (100_000, 1_000_000),
    "long": (100_000, 1_000_000, 10_000_000),
    "workers": (400_000,),
    "run": (10_000_000,),
    "whole": (100_000, 1_000_000),
}
SMALL_WIDE, SMALL_LONG = (16, 5), (8, 3)
SMALL_ROWS = {
    "wide": (3_000, 6_000),
    "long": (10_000, 20_000, 40_000),
    "workers": (5_000,),
    "run": (4_000,),
    "whole": (2_000, 4_000),
}
GB, MEMORY = 1e9, 4_000_000_000
KINDS = ("product", "gradient", "loss")


@dataclass(frozen=True)
class Point:
    """What is measured in one process: passes over some rows, or a whole run on them."""

    part: str
    examples: int
    features: int
    classes: int
    place: str
    what: str = "passes"
    memory: int = MEMORY

    @property
    def name(self) -> str:
        """Name of its file."""
        sizes = f"{self.examples}x{self.features}x{self.classes}"
        return f"{self.part}-{sizes}-{self.place.replace(':', '-')}.json"


def run(request: Request) -> Findings:
    points = _points(
        SMALL_ROWS if request.small else ROWS, *((SMALL_WIDE, SMALL_LONG) if request.small else (WIDE, LONG))
    )
    if request.only is not None and request.only not in points:
        raise SystemExit(f"benchmarks: --only {request.only}: scale has the parts {', '.join(points)}")
    rows, claims = [], []
    for part, wanted in points.items():
        own = request.only in (None, part)
        found = [_measured(point, request.out / "scale", anew=own) for point in wanted]
        known = [row for row in found if row is not None]
        rows += known
        if len(known) == len(wanted):
            more, claimed = CLAIMS[part](known)
            rows += more
            claims += claimed
    return Findings(rows, [SEED], claims)


def _points(sizes: dict[str, tuple[int, ...]], wide: tuple[int, int], long: tuple[int, int]) -> dict[str, list[Point]]:
    most = max(sizes["long"])
    return {
        "wide": [Point("wide", n, *wide, place) for n in sizes["wide"] for place in ("memory", "store")],
        "long": [Point("long", n, *long, "store", memory=max(2**16, MEMORY * n // most)) for n in sizes["long"]],
        "workers": [Point("workers", n, *wide, f"local:{count}") for n in sizes["workers"] for count in (1, 2)],
        "run": [Point("run", n, *long, "store", "prune") for n in sizes["run"]],
        "whole": [Point("whole", n, *wide, "store", "prune") for n in sizes["whole"]],
    }


def _about_wide(rows: list[Row]) -> tuple[list[Row], list[Claim]]:
    few_memory, _, many_memory, many_store = rows
    return [], [
        at_most("peak of passes over the most wide rows, GB", many_store["peak_gb"], 6),
        at_most(
            "time per example of a product, most wide rows over fewest",
            _each(many_memory, "product") / _each(few_memory, "product"),
            1.5,
        ),
        at_most("product from the store over that in memory", many_store["product"] / many_memory["product"], 1.3),
    ]


def _about_long(rows: list[Row]) -> tuple[list[Row], list[Claim]]:
    model = [_model(kind, *rows) for kind in KINDS]
    return model, [at_most(f"error of the predicted {row['pass']}", abs(row["error"]), 0.2) for row in model]


def _about_workers(rows: list[Row]) -> tuple[list[Row], list[Claim]]:
    one, two = rows
    return [], [at_least("two workers over one, product", one["product"] / two["product"], 1.6)]


def _about_run(rows: list[Row]) -> tuple[list[Row], list[Claim]]:
    return [], [at_most("peak of a run on the most long rows, GB", rows[0]["peak_gb"], 4)]


def _about_whole(rows: list[Row]) -> tuple[list[Row], list[Claim]]:
    few, many = rows
    return [], [
        at_most("peak of a run on the most wide rows, GB", many["peak_gb"], 6),
        at_most(
            "time per example of a run, most wide rows over fewest", _each(many, "seconds") / _each(few, "seconds"), 1.5
        ),
    ]


CLAIMS: dict[str, Callable[[list[Row]], tuple[list[Row], list[Claim]]]] = {
    "wide": _about_wide,
    "long": _about_long,
    "workers": _about_workers,
    "run": _about_run,
    "whole": _about_whole,
}


def _each(row: Row, seconds: str) -> float:
    return float(row[seconds] / row["examples"])


def _model(kind: str, few: Row, more: Row, most: Row) -> Row:
    """Return the line through two sizes, and how far it is from the third."""
    row = (more[kind] - few[kind]) / (more["examples"] - few["examples"])
    call = few[kind] - row * few["examples"]
    predicted = call + row * most["examples"]
    return {
        "part": "model",
        "pass": kind,
        "seconds_per_call": call,
        "seconds_per_example": row,
        "predicted": predicted,
        "measured": most[kind],
        "error": predicted / most[kind] - 1,
    }


def _measured(point: Point, folder: Path, *, anew: bool) -> Row | None:
    """Return a point that was measured before, or measure it; None if it is not known and not wanted now."""
    file = folder / point.name
    asked = {key: value for key, value in vars(point).items() if key != "what"}
    if file.is_file():
        row: Row = json.loads(file.read_text())["row"]
        if asked.items() <= row.items():
            return row
    if not anew:
        return None
    about, before = machine(), load()
    row = asked | _answer(point)
    text = json.dumps({"row": row, "machine": about | {"load_at_start": before, "load_at_end": load()}}, indent=2)
    folder.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".new")
    beside.write_text(text + "\n")
    beside.replace(file)  # so that a stop leaves no half of a point
    return row


def _answer(point: Point) -> Row:
    folder = Path(tempfile.mkdtemp())
    try:
        store = str(folder / "rows.zarr")
        write_store(store, point.examples, point.features, point.classes)
        command = [sys.executable, "-m", "benchmarks._scale_point", point.what, store, point.place, str(point.memory)]
        answer: Row = json.loads(measured(command).output)
    finally:
        shutil.rmtree(folder)
    return answer | {"peak_gb": answer.pop("peak_bytes") / GB}
