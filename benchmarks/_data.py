"""The data of the benchmarks, and the package's inner objects built from them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

import leanset
from benchmarks._record import Request
from leanset._progress import Silent
from leanset.data import Examples, Images, open_source, read_npz
from leanset.fitting import fitted_task
from leanset.inputs import inputs_from
from leanset.plan import Plan, plan_for
from leanset.select import Task

L2 = 1e-4
_SMALL_ROWS = 4000


def load_examples(request: Request) -> Examples:
    """Read the benchmark's data; a few thousand rows of it if the request is small."""
    if not request.data.is_file():
        raise SystemExit(
            f"benchmarks: no data at {request.data}; pass --data PATH, an npz file with features, labels, val_features "
            "and val_labels."
        )
    examples = read_npz(request.data)
    if examples.validation is None:
        raise SystemExit(f"benchmarks: {request.data} has no val_features and val_labels; the loss gap needs them.")
    return _first_rows(examples, _SMALL_ROWS) if request.small else examples


def _first_rows(examples: Examples, rows: int) -> Examples:
    return replace(
        examples,
        features=examples.features[:rows],
        targets=replace(examples.targets, values=examples.targets.values[:rows]),
        validation=examples.validation and _first_rows(examples.validation, rows),
    )


def prune(examples: Examples, **options: object) -> leanset.PruneResult:
    """Call `leanset.prune` as a user would, without frontier and progress bars; l2 stays fixed unless told otherwise."""
    held_out = examples.validation
    assert held_out is not None  # checked when the data was read
    return leanset.prune(
        examples.features,
        examples.labels,
        validation=(held_out.features, held_out.labels),
        l2=L2,
        frontier=False,
        progress=False,
        **{"penalty": "mean"} | options,  # type: ignore[arg-type]
    )


def planned(examples: Examples, fraction: float, *, seed: int, penalty: str = "mean") -> tuple[Plan, Task]:
    """Return what `leanset.prune` would do, and the task that it would give to its search, with the head fitted."""
    settings = leanset.Settings(fraction=fraction, l2=L2, penalty=penalty, seed=seed, frontier=False)
    inputs = inputs_from(examples, settings)
    plan = plan_for(settings, inputs.outline())
    return plan, fitted_task(inputs, plan, None, Silent())[0]


def cifar10_folder(request: Request) -> Path:
    """Return the folder of the official CIFAR-10 files, beside the default data or as given."""
    folder = request.data if request.data.is_dir() else request.data.parent / "cifar-10-batches-py"
    if not folder.is_dir():
        raise SystemExit(f"benchmarks: no CIFAR-10 at {folder}; pass --data DIR with the official files.")
    return folder


def first_images(images: Images, count: int) -> Images:
    """Return the first images, with a third as many of the held-out ones."""
    assert images.held_out is not None
    return replace(images.take(np.arange(count)), held_out=images.held_out.take(np.arange(count // 3)))


def held_out_split(images: Images) -> Images:
    """Set a fifth of the training images aside, drawn once, in place of the held-out ones: choices are judged by these."""
    aside = np.zeros(len(images), dtype=bool)
    aside[np.random.default_rng(0).permutation(len(images))[: len(images) // 5]] = True
    kept = images.take(np.flatnonzero(~aside))
    return replace(kept, held_out=replace(images.take(np.flatnonzero(aside)), held_out=None))


def cifar10(request: Request) -> Images:
    """Read CIFAR-10; its first 2,000 images if the request is small."""
    images = open_source(f"cifar10:{cifar10_folder(request)}")
    assert isinstance(images, Images)
    if not request.small:
        return images
    rows = np.arange(2000)
    return Images(images.pixels[rows], images.labels[rows], images.classes, identity="the first images")
