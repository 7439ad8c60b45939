from pathlib import Path
from typing import TYPE_CHECKING, Any

from leanset._arrays import Rows
from leanset._errors import InputError, missing_extra
from leanset._progress import reporter_for
from leanset._threads import thread_count
from leanset.cli import names, show
from leanset.data import Examples, Images, open_source
from leanset.head.statistics import HeadStatistics
from leanset.runs import NETWORK, rows_in

if TYPE_CHECKING:
    from leanset.pipeline.network import NetworkSettings

Opened = Images | Examples | HeadStatistics


def opened(
    source: str,
    *,
    threads: int | None = None,
    progress: bool | None = False,
    on_bad_image: str | None = None,
    **reading: Any,
) -> Opened:
    """Open what the user named, and say what was left out; `reading` are further options of `open_source`."""
    if source.startswith("head:"):
        names.refuse("head statistics", on_bad_image=on_bad_image, **reading)
        return HeadStatistics.load(Path(source.removeprefix("head:")).expanduser())
    if on_bad_image not in (None, "stop", "skip"):
        raise InputError(f"--on-bad-image {on_bad_image!r} must be stop or skip.")
    with (
        thread_count(threads),
        reporter_for(progress) as reporter,
        reporter.stage("Reading the data", units=100, unit="%") as advance,
    ):
        data = open_source(source, on_bad="skip" if on_bad_image == "skip" else "stop", advance=advance, **reading)
    if isinstance(data, Images):
        for part, what in ((data, "row"), (data.held_out, "held-out row")):
            for bad in () if part is None else part.unreadable:
                show.warn(f"left out {what} {bad.row}: {bad.file}: {bad.reason}")
    return data


def opened_images(source: str, purpose: str, **options: Any) -> Images:
    """Open images; whoever wants them for a purpose has no use for features."""
    data = opened(source, **options)
    if not isinstance(data, Images):
        raise InputError(f"{source}: holds features; {purpose} networks on images.")
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
        return rows_in(path.read_text())
    except OSError as error:
        raise InputError(f"{option} {path}: cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"{option} {path}: must hold one row number a line.") from None


def network_settings(
    images: Images,
    *,
    seed: int,
    warn: bool = True,
    model: str | None,
    checkpoint: Path | None = None,
    stem: str | None = None,
    preset: str | None = None,
    weight_decay: float | None = None,
    flip: bool | None = None,
    runs: int | None = None,
    device: str | None = None,
    devices: int | None = None,
    mean: str | None = None,
    std: str | None = None,
    **training: Any,
) -> "NetworkSettings":
    """Collect the options of a network; `training` are those of the recipe that a checkpoint has no use for.

    With `warn`, the user is told if a checkpoint's weight decay has to be assumed.
    """
    try:
        from leanset.pipeline.network import NetworkSettings
        from leanset.training.batches import PixelScale
        from leanset.training.models import MODELS, build_model, has_stems, is_normalised
        from leanset.training.recipe import preset as preset_named
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise missing_extra("Training a network", "torch") from None
    if model is None:
        raise InputError(f"images need a network: give --model, one of {', '.join(sorted(MODELS))}.")
    if (mean is None) != (std is None):
        raise InputError("give both --mean and --std, or neither.")
    if checkpoint is not None:
        names.refuse("a checkpoint, which is not trained", preset=preset, flip=flip, devices=devices, **training)
    if not has_stems(model):
        names.refuse(f"{model}, which has one stem for all sizes", stem=stem)
    normalised = is_normalised(build_model(model, len(images.classes), channels=images.channels))
    # A mirrored digit is another sign; grey images are digits and the like more often than not.
    flip = images.channels > 1 if flip is None else flip
    recipe = preset_named(preset or "fast", normalised=normalised).with_changes(flip=flip, **training)
    settings = NetworkSettings(
        model=model,
        recipe=recipe.with_changes(weight_decay=weight_decay),
        seed=seed,
        stem=stem or "auto",
        runs=runs or 1,
        checkpoint=checkpoint,
        scale=None if mean is None or std is None else PixelScale(_numbers("--mean", mean), _numbers("--std", std)),
        device=device or "auto",
        devices=devices or 1,
    )
    settings, assumed = settings.as_the_checkpoint_says(images.classes, weight_decay)
    if assumed and warn:
        decay = settings.recipe.weight_decay
        show.warn(
            f"the checkpoint does not tell its weight decay; {decay:g} is assumed. Give --weight-decay if it is another."
        )
    return settings


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option} {text!r} must be numbers with commas between, one a channel.") from None
