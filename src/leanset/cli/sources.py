from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from leanset._arrays import Rows
from leanset._errors import InputError, missing_extra
from leanset._progress import reporter_for
from leanset.cli import show
from leanset.data import Examples, Images, open_source
from leanset.head.statistics import HeadStatistics
from leanset.runs import NETWORK

if TYPE_CHECKING:
    from leanset.pipeline.network import NetworkSettings

Opened = Images | Examples | HeadStatistics


def opened(
    source: str,
    *,
    on_bad_image: str = "stop",
    image_size: int | None = None,
    label_column: str | None = None,
    image_column: str | None = None,
    progress: bool | None = False,
) -> Opened:
    """Open what the user named, and say what was left out."""
    if source.startswith("head:"):
        return HeadStatistics.load(source.removeprefix("head:"))
    if on_bad_image not in ("stop", "skip"):
        raise InputError(f"--on-bad-image {on_bad_image!r} must be stop or skip.")
    with reporter_for(progress) as reporter, reporter.stage("Reading the data", units=100, unit="%") as advance:
        data = open_source(
            source,
            on_bad="skip" if on_bad_image == "skip" else "stop",
            image_size=image_size,
            label_column=label_column,
            image_column=image_column,
            advance=advance,
        )
    if isinstance(data, Images):
        for part, what in ((data, "row"), (data.held_out, "held-out row")):
            for bad in () if part is None else part.unreadable:
                show.warn(f"left out {what} {bad.row}: {bad.file}: {bad.reason}")
    return data


def examples_of_run(run: Path, source: str | None) -> Examples:
    """Return the features and labels that a run was made from: those named, or those its network left in its folder."""
    if source is None:
        store = run / NETWORK / "head"
        if not store.is_dir():
            raise InputError(f"{run}: was not made from images, so name its data with --data.")
        return HeadStatistics.load(store).examples()
    data = opened(source)
    if isinstance(data, Images):
        raise InputError(
            f"--data {source}: a run on images is checked against the features of its network; leave --data out, or name "
            f"head:{run / NETWORK / 'head'}."
        )
    return data if isinstance(data, Examples) else data.examples()


def row_numbers(option: str, path: Path) -> Rows:
    """Read row numbers, one a line."""
    try:
        return np.array([int(line) for line in path.read_text().split()], dtype=np.int64)
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"{option} {path}: must hold one row number a line.") from None


def network_settings(
    *,
    model: str | None,
    checkpoint: Path | None,
    head: str | None,
    stem: str,
    preset: str,
    epochs: int | None,
    batch_size: int | None,
    lr: float | None,
    weight_decay: float | None,
    runs: int,
    device: str,
    devices: int,
    mean: str | None,
    deviation: str | None,
    seed: int,
) -> "NetworkSettings":
    """Collect the options of a network."""
    try:
        from leanset.pipeline.network import NetworkSettings
        from leanset.training.batches import PixelScale
        from leanset.training.models import MODELS
        from leanset.training.recipe import preset as preset_named
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise missing_extra("Training a network", "torch") from None
    if model is None:
        raise InputError(f"images need a network: give --model, one of {', '.join(sorted(MODELS))}.")
    if (mean is None) != (deviation is None):
        raise InputError("give both --mean and --std, or neither.")
    scale = (
        None
        if mean is None or deviation is None
        else PixelScale(_numbers("--mean", mean), _numbers("--std", deviation))
    )
    recipe = preset_named(preset).with_changes(epochs=epochs, batch_size=batch_size, lr=lr, weight_decay=weight_decay)
    return NetworkSettings(
        model=model,
        recipe=recipe,
        seed=seed,
        stem=stem,
        runs=runs,
        checkpoint=checkpoint,
        head=head,
        scale=scale,
        device=device,
        devices=devices,
    )


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option} {text!r} must be numbers with commas between, one a channel.") from None
