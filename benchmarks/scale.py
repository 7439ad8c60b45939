"""Rows that do not fit into memory: seconds of a pass, peak memory of a run, and a model that predicts larger ones.

Gaussian mixtures in float16, written to a Zarr store with checksums chunk by chunk. Every point is a process of its own, on
all cores, with `memory` at 4 GB; its peak is its largest resident set. A pass is one product with the Hessian ("product"),
one weighted sum of gradients ("gradient") or one mean loss ("loss"), the least of three. Part "wide": 512 features and 100
classes, from the store and from float32 in memory. Part "long": 64 features and 10 classes, from the store; a line through
the two smaller sizes predicts the largest, for each kind of pass; `memory` grows with the rows up to 4 GB, so that all sizes
store and read the same. Part "workers": the product of the wide rows on one and on
two Dask workers. Part "run": `leanset.prune(keep=0.1, weights=True, l2=1e-2, suspects="ignore", random_draws=2,
frontier=False)` on the long rows.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks._measure import measured
from benchmarks._record import Claim, Findings, Request, Row, at_least, at_most
from benchmarks._scale_point import SEED, write_store

WIDE, LONG = (512, 100), (64, 10)  # features, classes
WIDE_ROWS, LONG_ROWS, WORKER_ROWS, RUN_ROWS = (
    (100_000, 1_000_000),
    (100_000, 1_000_000, 10_000_000),
    400_000,
    10_000_000,
)
SMALL_ROWS = {"wide": (3_000, 6_000), "long": (10_000, 20_000, 40_000), "workers": 5_000, "run": 4_000}
SMALL_SHAPES = {"wide": (16, 5), "long": (8, 3)}
GB, MEMORY = 1e9, 4_000_000_000
KINDS = ("product", "gradient", "loss")


def run(request: Request) -> Findings:
    sizes = {"wide": WIDE_ROWS, "long": LONG_ROWS, "workers": WORKER_ROWS, "run": RUN_ROWS}
    shapes = {"wide": WIDE, "long": LONG}
    if request.small:
        sizes, shapes = SMALL_ROWS, SMALL_SHAPES
    wide = [_point("wide", n, shapes["wide"], place) for n in sizes["wide"] for place in ("memory", "store")]
    share = {n: max(2**16, MEMORY * n // max(sizes["long"])) for n in sizes["long"]}
    long = [_point("long", n, shapes["long"], "store", memory=share[n]) for n in sizes["long"]]
    workers = [_point("workers", sizes["workers"], shapes["wide"], f"local:{count}") for count in (1, 2)]
    model = [_model(kind, *long) for kind in KINDS]
    whole = _point("run", sizes["run"], shapes["long"], "store", "prune")
    return Findings([*wide, *long, *model, *workers, whole], [SEED], _claims(wide, model, workers, whole))


def _claims(wide: list[Row], model: list[Row], workers: list[Row], whole: Row) -> list[Claim]:
    few_memory, _, many_memory, many_store = wide
    claims = [
        at_most("peak of passes over the most wide rows, GB", many_store["peak_gb"], 6),
        at_most(
            "time per example of a product, most wide rows over fewest",
            many_memory["product"] / many_memory["examples"] / (few_memory["product"] / few_memory["examples"]),
            1.5,
        ),
        at_most("product from the store over that in memory", many_store["product"] / many_memory["product"], 1.3),
    ]
    claims += [at_most(f"error of the predicted {row['pass']}", abs(row["error"]), 0.2) for row in model]
    claims.append(at_least("two workers over one, product", workers[0]["product"] / workers[1]["product"], 1.6))
    claims.append(at_most("peak of a run on the most long rows, GB", whole["peak_gb"], 4))
    return claims


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


def _point(part: str, rows: int, shape: tuple[int, int], place: str, what: str = "passes", memory: int = MEMORY) -> Row:
    folder = Path(tempfile.mkdtemp())
    try:
        store = str(folder / "rows.zarr")
        write_store(store, rows, *shape)
        answer = json.loads(
            measured([sys.executable, "-m", "benchmarks._scale_point", what, store, place, str(memory)]).output
        )
    finally:
        shutil.rmtree(folder)
    peak = answer.pop("peak_bytes") / GB
    return (
        {"part": part, "examples": rows, "features": shape[0], "classes": shape[1], "place": place}
        | answer
        | {"peak_gb": peak}
    )
