from pathlib import Path
from typing import Annotated

import typer

from leanset._errors import InputError
from leanset._threads import thread_count
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.cli.sources import network_settings, opened_images

Methods = Annotated[
    str,
    typer.Option(
        help="With commas between: leanset, balanced (leanset without coverage), paper, or methods of the literature. "
        "stratified-random is always there."
    ),
]
Fractions = Annotated[str, typer.Option(help="Shares to remove, with commas between.")]
Seeds = Annotated[int, typer.Option(help="Trainings of each kind; an interval needs at least 2.")]
Trained = Annotated[
    str | None,
    typer.Option(help="Networks to train on the chosen sets, with commas between; that of --model if not given."),
]
Protocols = Annotated[str, typer.Option(help="equal-epochs, equal-steps, epochs=K; with commas between.")]
StudyOut = Annotated[Path, typer.Option("--out", help="Folder of the study; finished trainings are kept there.")]
Workers = Annotated[
    int | None, typer.Option(help="Trainings side by side; as many as cores, or one on a GPU, if not given.")
]
HeldOutShare = Annotated[
    float, typer.Option(help="Share of each class set aside for testing, if the source brings no held-out images.")
]


@guarded
def compare(
    source: options.Source,
    model: options.Model = None,
    methods: Methods = "leanset,ccs,el2n,forgetting,random",
    fractions: Fractions = "0.2,0.4,0.6",
    seeds: Seeds = 3,
    train_models: Trained = None,
    protocols: Protocols = "equal-epochs,equal-steps",
    out: StudyOut = Path("leanset-compare"),
    workers: Workers = None,
    held_out_share: HeldOutShare = 0.2,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    lr: options.Rate = None,
    weight_decay: options.WeightDecay = None,
    flip: options.Flip = None,
    crop: options.Crop = None,
    runs: options.Runs = None,
    device: options.Device = None,
    on_bad_image: options.OnBadImage = None,
    image_size: options.ImageSize = None,
    label_column: options.LabelColumn = None,
    image_column: options.ImageColumn = None,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find out on your own data which method to trust: train on what each one keeps, seed by seed."""
    progress = False if quiet or as_json else None
    data = opened_images(
        source,
        "`leanset compare` trains",
        threads=threads,
        progress=progress,
        on_bad_image=on_bad_image,
        image_size=image_size,
        label_column=label_column,
        image_column=image_column,
    )
    network = network_settings(
        data,
        seed=0,
        model=model,
        preset=preset,
        epochs=epochs,
        batch_size=batch_size,
        lr=lr,
        weight_decay=weight_decay,
        flip=flip,
        crop=crop,
        runs=runs,
        device=device,
    )
    from leanset.evaluate.front import compare as compared

    with thread_count(threads):
        answer = compared(
            data,
            model=network.model,
            methods=words(methods),
            fractions=numbers("--fractions", fractions),
            seeds=seeds,
            out=out,
            models=words(train_models or ""),
            protocols=words(protocols),
            recipe=network.recipe,
            runs=network.runs,
            held_out_share=held_out_share,
            device=network.device,
            workers=workers,
            progress=progress,
        )
    if as_json:
        show.show_json(answer.to_dict())
    elif not quiet:
        show.show_comparison(answer.rows, answer.verdicts, str(out))


def words(text: str) -> tuple[str, ...]:
    """Split a list with commas between."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Read numbers with commas between."""
    try:
        return tuple(float(part) for part in words(text))
    except ValueError:
        raise InputError(f"{option} {text!r} must be numbers with commas between.") from None
