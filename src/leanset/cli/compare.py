from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from leanset._progress import reporter_for
from leanset._threads import thread_count
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.parsing import numbers_in, words_in
from leanset.settings import NetworkOptions, ReadingOptions, RunOptions

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


_NOT_FOR_COMPARISONS = ("checkpoint", "stem", "retrain", "devices", "mean", "std", "out", "overwrite")


@dataclass(frozen=True, kw_only=True)
class CompareSettings(RunOptions, ReadingOptions, NetworkOptions):
    """Options of `leanset compare` that other commands have too."""


@guarded
@options.with_settings(CompareSettings, leave_out=_NOT_FOR_COMPARISONS)
def compare(
    source: options.Source,
    settings: CompareSettings,
    methods: Methods = "leanset,ccs,el2n,forgetting,random",
    fractions: Fractions = "0.2,0.4,0.6",
    seeds: Seeds = 3,
    train_models: Trained = None,
    protocols: Protocols = "equal-epochs,equal-steps",
    out: StudyOut = Path("leanset-compare"),
    workers: Workers = None,
    held_out_share: HeldOutShare = 0.2,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find out on your own data which method to trust: train on what each one keeps, seed by seed."""
    progress = False if quiet or as_json else None
    from leanset.capture import network_settings  # needs torch
    from leanset.evaluate import compare as compared

    with thread_count(settings.threads):
        with reporter_for(progress) as reporter:
            images = options.images_from(source, settings, reporter, "`leanset compare` trains")
        network, _ = network_settings(images, settings, seed=0)
        answer = compared(
            images,
            model=network.model,
            methods=words_in(methods),
            fractions=numbers_in(fractions, "fractions"),
            seeds=seeds,
            out=out,
            models=words_in(train_models or ""),
            protocols=words_in(protocols),
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
