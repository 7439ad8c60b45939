import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from leanset._arrays import Rows, places_among
from leanset._errors import InputError
from leanset._lock import locked
from leanset._options import Option
from leanset._progress import reporter_for
from leanset._rules import a_seed
from leanset._threads import thread_count
from leanset.cli import options, show
from leanset.cli.folders import folder_for
from leanset.cli.guard import guarded
from leanset.data import Images
from leanset.head import PENALTIES
from leanset.parsing import rows_in_file
from leanset.settings import NetworkOptions, ReadingOptions, RetrainingOptions, RunOptions

Subset = Annotated[Path | None, typer.Option(help="Text file with the row numbers to train on, e.g. run/kept.txt.")]
_NOT_FOR_TRAINING = ("checkpoint", "runs", "retrain", "mean", "std")
_OFTEN = ("model", "preset", "epochs", "seed", "device", "out")  # in the short help


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainSettings(RunOptions, ReadingOptions, RetrainingOptions, NetworkOptions):
    """Options of `leanset train`."""

    seed: Annotated[int, Option("seed of the weights, the order and the augmentation", rule=a_seed)] = 0


@guarded
@options.with_settings(TrainSettings, leave_out=_NOT_FOR_TRAINING, often=_OFTEN)
def train(
    source: options.Source,
    settings: TrainSettings,
    subset: Subset = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a network on all images, or on those that a run kept, and test it on the held-out ones.

    Example: leanset train cifar10:DIR --model resnet20 --subset run/kept.txt --out trained/
    """
    settings = replace(settings, progress=False if quiet or as_json else None)
    from leanset.capture import Network, network_settings  # needs torch
    from leanset.training import Quality

    with (
        folder_for(source, settings.out, "training") as out,
        thread_count(settings.threads),
        reporter_for(settings.progress) as reporter,
        _alone_in(out, wait=settings.wait),
    ):
        images = options.images_from(source, settings, reporter, "`leanset train` trains")
        places = None if subset is None else _places(subset, images)
        chosen, model = network_settings(images, settings, seed=settings.seed)
        if places is not None:
            decay = PENALTIES[settings.decay].l2_on(chosen.recipe.weight_decay, len(images), len(places))
            chosen = replace(chosen, recipe=replace(chosen.recipe, weight_decay=decay))
        network = Network(images, chosen, model)
        training, quality = network.trained(places=places, out=out, retrain=settings.overwrite, reporter=reporter)
    if as_json:
        last = training.history[-1]
        values = {"folder": str(out), "examples": len(images) if places is None else len(places)}
        names = [field.name for field in fields(Quality)]
        held_out = {f"held_out_{name}": None if quality is None else getattr(quality, name) for name in names}
        show.show_json(
            values | held_out | {"epochs": last.epoch, "train_loss": last.loss, "train_accuracy": last.accuracy}
        )
    elif quiet:
        if settings.out is None:
            show.show_folder(str(out))
    else:
        show.show_training(training.history, quality, str(out))


def _places(subset: Path, images: Images) -> Rows:
    rows = np.unique(rows_in_file("subset")(str(subset)))
    places = places_among(images.rows, rows)
    unknown = places < 0
    if unknown.any() or not len(rows):
        raise InputError(
            f"--subset {subset}: {int(unknown.sum())} of {len(rows)} rows are not in this source of {len(images):,} images."
        )
    return places


def _alone_in(out: Path, *, wait: bool) -> AbstractContextManager[object]:
    """Lock the folder; of several processes that train one network, the first does it for all."""
    return locked(out, wait=wait) if os.environ.get("LOCAL_RANK", "0") == "0" else nullcontext()
