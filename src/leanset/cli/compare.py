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
        help="Comma-separated: leanset, balanced (leanset without coverage), paper, or methods of the literature. "
        "stratified-random is always included."
    ),
]
Fractions = Annotated[str, typer.Option(help="Comma-separated shares to remove.")]
Seeds = Annotated[int, typer.Option(help="Trainings of each kind; intervals need at least 2.")]
Trained = Annotated[
    str | None,
    typer.Option(help="Comma-separated networks to train on the chosen sets; that of --model if not given."),
]
Protocols = Annotated[str, typer.Option(help="Comma-separated: equal-epochs, equal-steps, epochs=K.")]
StudyOut = Annotated[Path, typer.Option("--out", help="Folder of the study; finished trainings are saved there.")]
Workers = Annotated[
    int | None, typer.Option(help="Trainings in parallel; if not given, as many as cores, or one on a GPU.")
]
HeldOutShare = Annotated[
    float, typer.Option(help="Share of each class to hold out for testing, if the source has no held-out images.")
]


_NOT_FOR_COMPARISONS = ("checkpoint", "stem", "retrain", "devices", "mean", "std", "out", "overwrite")


@dataclass(frozen=True, kw_only=True, eq=False)
class CompareSettings(RunOptions, ReadingOptions, NetworkOptions):
    """Options that `leanset compare` shares with other commands."""


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
    """Compare methods on your own data: train on what each one keeps, with several seeds."""
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
