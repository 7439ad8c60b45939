"""The data of the benchmarks, and the package's inner objects built from them."""

from pathlib import Path

import numpy as np
from leanset.pipeline.formulations import Annealed
from leanset.pipeline.ground import Ground, prepare_ground
from leanset.pipeline.inputs import inputs_from
from leanset.pipeline.settings import checked_settings, constraints_of

import leanset
from benchmarks._record import Request
from leanset._arrays import Mask
from leanset.data import Examples, Images, open_source, read_npz
from leanset.head import HeadFit
from leanset.influence import InfluenceMap
from leanset.problem import PruneProblem

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
    held_out = examples.validation
    return Examples(
        examples.features[:rows],
        examples.labels[:rows],
        examples.classes,
        held_out and Examples(held_out.features[:rows], held_out.labels[:rows], examples.classes),
    )


def prune(examples: Examples, **options: object) -> leanset.PruneResult:
    """Call `leanset.prune` as a user would, without frontier and progress bars."""
    held_out = examples.validation
    assert held_out is not None  # checked when the data was read
    return leanset.prune(
        examples.features,
        examples.labels,
        validation=(held_out.features, held_out.labels),
        l2=L2,
        frontier=False,
        progress=False,
        **options,  # type: ignore[arg-type]
    )


def ground_of(
    examples: Examples, fraction: float, *, seed: int, formulation: str = "newton", known: HeadFit | None = None
) -> Ground:
    """Return what `leanset.prune` would stand on, with the head refitted only if it is not known."""
    inputs = inputs_from(examples, l2=L2)
    settings = checked_settings(inputs, fraction=fraction, formulation=formulation, seed=seed, frontier=False)
    return prepare_ground(inputs, settings, constraints_of(examples, settings), known)


def exchange_problem(formulation: Annealed, influence: InfluenceMap, removed: Mask, rows: np.ndarray) -> PruneProblem:
    """State the exchange problem that a formulation's search solves, with `rows` free to move."""
    return formulation.problem(influence, rows, removed, influence.total(np.flatnonzero(removed)))


def cifar10_folder(request: Request) -> Path:
    """Return the folder of the official CIFAR-10 files, beside the default data or as given."""
    folder = request.data if request.data.is_dir() else request.data.parent / "cifar-10-batches-py"
    if not folder.is_dir():
        raise SystemExit(f"benchmarks: no CIFAR-10 at {folder}; pass --data DIR with the official files.")
    return folder


def cifar10(request: Request) -> Images:
    """Read CIFAR-10; its first 2,000 images if the request is small."""
    images = open_source(f"cifar10:{cifar10_folder(request)}")
    assert isinstance(images, Images)
    if not request.small:
        return images
    rows = np.arange(2000)
    return Images(images.pixels[rows], images.labels[rows], images.classes, identity="the first images")
