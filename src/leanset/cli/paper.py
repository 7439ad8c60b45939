from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from leanset._errors import InputError
from leanset._progress import reporter_for
from leanset._threads import thread_count
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.data import kind_of, read_labels
from leanset.judge import Forecast, joined
from leanset.parsing import words_in
from leanset.report import check_figures, check_page
from leanset.settings import ReadingOptions, WorkerOptions, WorkOptions

_USUAL = {  # where the data sets of the paper are if their archives were unpacked into ./data
    "cifar10:data/cifar-10-batches-py",
    "cifar100:data/cifar-100-python",
    "tiny-imagenet:data/tiny-imagenet-200",
}

ExperimentName = Annotated[
    str,
    typer.Argument(
        help="theory (figure 2), pruning (figure 1), transfer (figure 3), speed (figure 4), nas (table 1), noise (wrong "
        "labels), or all of them."
    ),
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        help="A source such as cifar10:DIR; may be given several times. The data sets in ./data if not given."
    ),
]
ScaleName = Annotated[
    str,
    typer.Option(
        help="cpu: about an hour each on two cores; quick: all images, hours on two cores; published: as in the paper, for a "
        "GPU."
    ),
]
PaperOut = Annotated[Path, typer.Option("--out", help="Folder for tables, figures and records.")]
Work = Annotated[
    Path | None,
    typer.Option(help="Folder to save trainings in and to resume from; OUT/tables if not given.", show_default=False),
]
Seeds = Annotated[int | None, typer.Option(help="Trainings of each kind; set by the scale if not given.")]
Labels = Annotated[
    Path | None,
    typer.Option(help="For noise: npz file with one array per kind of noisy labels, e.g. CIFAR-10N."),
]
LabelNames = Annotated[str, typer.Option(help="For noise: comma-separated names of arrays in the file.")]


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperSettings(WorkerOptions, WorkOptions):
    """Options that `leanset paper` shares with other commands."""


@guarded
@options.with_settings(PaperSettings)
def paper(
    experiment: ExperimentName,
    settings: PaperSettings,
    data: Data = None,
    scale: ScaleName = "cpu",
    out: PaperOut = Path("leanset-paper"),
    work: Work = None,
    seeds: Seeds = None,
    noisy_labels: Labels = None,
    noisy_names: LabelNames = "worse_label,aggre_label",
    dry_run: options.StudyPlan = False,
    report: options.Report = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Repeat the paper's experiments, each with its tables, figures and record.

    Example: leanset paper theory --data cifar10:DIR --scale cpu
    """
    if experiment == "noise" and noisy_labels is None:
        raise InputError("noise needs wrong labels: give --noisy-labels FILE.npz.")
    from leanset.paper import (  # needs torch
        EXPERIMENTS,
        Experiment,
        forecast_experiments,
        run_experiment,
        scale_named,
        write_paper_report,
    )

    if experiment not in (*EXPERIMENTS, "all"):
        raise InputError(f"experiment {experiment!r} is unknown; choose from {', '.join(EXPERIMENTS)} or all.")
    if report is not None:
        check_page(report)
    check_figures()
    size = scale_named(scale)
    chosen = [name for name in EXPERIMENTS if experiment in (name, "all") and (name != "noise" or noisy_labels)]
    sources = data or _found()
    kinds = [kind_of(source) for source in sources]
    if len(set(kinds)) < len(kinds):
        raise InputError(
            f"--data: {len(kinds)} sources of {len(set(kinds))} kinds; run those of one kind separately, with an --out each."
        )
    labels = read_labels(noisy_labels, words_in(noisy_names)) if noisy_labels and "noise" in chosen else {}
    folders: list[Path] = []
    expected: dict[str, Forecast] = {}
    for source, kind in zip(sources, kinds, strict=True):
        folder = out if len(sources) == 1 else out / kind
        with thread_count(settings.threads), reporter_for(False if quiet or as_json else None) as reporter:
            asked = Experiment(
                source=options.images_from(source, ReadingOptions(), reporter, "the paper's experiments train"),
                scale=size,
                out=folder,
                work=(work or out / "tables") / kind,
                command=_command(experiment, kind, scale, seeds),
                reporter=reporter,
                seeds=seeds,
                workers=settings.workers,
                noisy_labels=labels,
            )
            if dry_run:
                expected[kind] = forecast_experiments(chosen, asked)
                continue
            for name in chosen:
                written = run_experiment(name, replace(asked, command=_command(name, kind, scale, seeds)))
                folders.append(written)
                if not (quiet or as_json):
                    show.OUT.print(f"{name}: {written}", soft_wrap=True)
    if dry_run:
        show.show_forecast(joined(expected), f"leanset paper {experiment} --scale {scale}", as_json)
        return
    if report is not None:
        write_paper_report(report, folders)
        if not (quiet or as_json):
            show.show_saved(report)
    if as_json:
        show.show_json({"folders": list(map(str, folders)), "report": None if report is None else str(report)})


def _found() -> list[str]:
    found = [source for source in sorted(_USUAL) if Path(source.partition(":")[2]).is_dir()]
    if not found:
        raise InputError(
            f"no data: give --data cifar10:DIR, or unpack a data set so that one of {', '.join(sorted(_USUAL))} exists."
        )
    return found


def _command(experiment: str, kind: str, scale: str, seeds: int | None) -> str:
    """Return the command for the record, without the paths of this machine."""
    noise = " --noisy-labels FILE" if experiment == "noise" else ""
    return f"leanset paper {experiment} --data {kind}:DIR --scale {scale}{f' --seeds {seeds}' if seeds else ''}{noise}"
