import numpy as np

from leanset._arrays import places_among
from leanset._errors import InputError
from leanset._progress import reporter_for
from leanset._threads import thread_count
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.cli.sources import network_settings, opened_images, row_numbers


@guarded
def train(
    source: options.Source,
    model: options.Model = None,
    subset: options.Subset = None,
    out: options.NetworkOut = None,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    lr: options.Rate = None,
    weight_decay: options.WeightDecay = None,
    flip: options.Flip = None,
    crop: options.Crop = None,
    seed: options.Seed = 0,
    stem: options.Stem = None,
    device: options.Device = None,
    devices: options.Devices = None,
    threads: options.Threads = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    on_bad_image: options.OnBadImage = None,
    image_size: options.ImageSize = None,
    label_column: options.LabelColumn = None,
    image_column: options.ImageColumn = None,
) -> None:
    """Train a network, on all images or on those that a run kept, and test it on the held-out ones."""
    progress = False if quiet or as_json else None
    data = opened_images(
        source,
        "`leanset train` trains",
        threads=threads,
        progress=progress,
        on_bad_image=on_bad_image,
        image_size=image_size,
        label_column=label_column,
        image_column=image_column,
    )
    network = network_settings(
        data,
        seed=seed,
        model=model,
        stem=stem,
        preset=preset,
        epochs=epochs,
        batch_size=batch_size,
        lr=lr,
        weight_decay=weight_decay,
        flip=flip,
        crop=crop,
        device=device,
        devices=devices,
    )
    from leanset.pipeline.network import trained_network

    places = None
    if subset is not None:
        rows = np.unique(row_numbers("--subset", subset))
        places = places_among(data.rows, rows)
        unknown = places < 0
        if unknown.any() or not len(rows):
            raise InputError(
                f"--subset {subset}: {int(unknown.sum())} of {len(rows)} rows are not in this source of {len(data):,} images."
            )
    with thread_count(threads), reporter_for(progress) as reporter:
        training, quality = trained_network(data, network, places=places, out=out, retrain=overwrite, reporter=reporter)
    last, accuracy = training.history[-1], None if quality is None else quality.accuracy
    if as_json:
        values = {"examples": len(data) if places is None else len(places), "held_out_accuracy": accuracy}
        show.show_json(values | {"epochs": last.epoch, "train_loss": last.loss, "train_accuracy": last.accuracy})
    elif not quiet:
        show.show_training(training.history, accuracy, None if out is None else str(out))
