from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leanset._options import Option, options_of
from leanset._progress import reporter_for
from leanset._rules import at_least, names, yes_or_no
from leanset._threads import thread_count
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.data import Images
from leanset.inputs import opened
from leanset.judge import Forecast
from leanset.parsing import words_in
from leanset.report import check_page
from leanset.settings import (
    CompareOptions,
    CompareSettings,
    HeadOptions,
    NetworkOptions,
    WorkerOptions,
)
from leanset.trials import CompareResult, FeatureSource, compare_on, forecast_on

if TYPE_CHECKING:
    from leanset.evaluate import Answer, Question, Setup

StudyOut = Annotated[
    Path,
    typer.Option(
        "--out", help="Folder of the comparison; finished work is saved there.", rich_help_panel=CompareOptions.panel
    ),
]
_NOT_FOR_COMPARISONS = ("checkpoint", "stem", "retrain", "devices", "mean", "std", "out")
_NO_NETWORK = "features, on which no network is trained"
_OFTEN = ("methods", "fractions", "seeds", "loss", "C", "model", "epochs", "label_column")  # in the short help


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingOptions(NetworkOptions, WorkerOptions):
    """How networks are trained in a comparison on images."""

    train_models: Annotated[
        Sequence[str] | None,
        Option(
            "networks to train on the chosen sets, e.g. lenet,conv4; that of --model if not given",
            rule=names,
            read=words_in,
        ),
    ] = None
    choose_epochs: Annotated[
        int | None,
        Option("epochs of the network that methods look at; as many as are compared if not given", rule=at_least(1)),
    ] = None
    protocols: Annotated[
        Sequence[str] | None,
        Option(
            "how to train on what is kept: equal-epochs,equal-steps if not given, or epochs=K; with +total-decay after it, the "
            "weight decay is divided by the share kept",
            rule=names,
            read=words_in,
        ),
    ] = None
    finished: Annotated[bool, Option("train nothing; make tables of all that is finished in --out", rule=yes_or_no)] = (
        False
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class CompareCommand(TrainingOptions, CompareSettings):
    """Options of `leanset compare`; the kind of the source decides which apply."""


@guarded
@options.with_settings(CompareCommand, leave_out=_NOT_FOR_COMPARISONS, often=_OFTEN)
def compare(
    source: options.Source,
    settings: CompareCommand,
    out: StudyOut = Path("leanset-compare"),
    dry_run: options.StudyPlan = False,
    report: options.Report = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare methods on your own data, with several seeds.

    Features: the head is fitted on what each method keeps and judged on validation rows.
    Images: networks are trained on what each method keeps and tested on held-out images.

    Example: leanset compare features.npz --methods leanset,el2n --fractions 0.4,0.7 --seeds 5
    """
    settings = replace(settings, out=out, progress=False if quiet or as_json else None)
    if report is not None:
        check_page(report)
    with thread_count(settings.threads):
        with reporter_for(settings.progress) as reporter:
            data = opened(source, None, settings, reporter)
        if dry_run:
            expected = _forecast_images(data, settings) if isinstance(data, Images) else _forecast(data, settings)
            show.show_forecast(expected, f"leanset compare {source}", as_json)
            return
        answer = _on_images(data, settings) if isinstance(data, Images) else _on_features(data, settings)
    if report is not None:
        answer.report(report)
    if as_json:
        show.show_json(answer.to_dict())
    elif quiet:
        return
    elif isinstance(answer, CompareResult):
        show.show_trials(answer, str(out))
    else:
        show.show_comparison(answer, str(out))
    if report is not None and not as_json:
        show.show_saved(report)


def _forecast(data: FeatureSource, settings: CompareCommand) -> Forecast:
    settings.refuse(options_of(TrainingOptions), _NO_NETWORK)
    return forecast_on(data, settings)


def _on_features(data: FeatureSource, settings: CompareCommand) -> CompareResult:
    settings.refuse(options_of(TrainingOptions), _NO_NETWORK)
    with reporter_for(settings.progress) as reporter:
        return compare_on(data, settings, reporter)


def _forecast_images(images: Images, settings: CompareCommand) -> Forecast:
    from leanset.evaluate import forecast_comparison  # needs torch

    setup, question = _asked(images, settings)
    return forecast_comparison(setup, question, _out(settings), workers=settings.workers)


def _on_images(images: Images, settings: CompareCommand) -> "Answer":
    from leanset.evaluate import run_comparison  # needs torch

    setup, question = _asked(images, settings)
    with reporter_for(settings.progress) as reporter:
        return run_comparison(
            setup,
            question,
            _out(settings),
            workers=settings.workers,
            reporter=reporter,
            only_finished=settings.finished,
        )


def _out(settings: CompareCommand) -> Path:
    assert settings.out is not None  # it has a default
    return Path(settings.out)


def _asked(images: Images, settings: CompareCommand) -> "tuple[Setup, Question]":
    settings.refuse(options_of(HeadOptions), "images, on which networks are trained")
    from leanset.capture import network_settings  # needs torch
    from leanset.evaluate import asked

    network, _ = network_settings(images, settings, seed=0)
    others = {
        name: network_settings(images, replace(settings, model=name), seed=0)[0].recipe
        for name in settings.train_models or ()
    }
    names = ("methods", "fractions", "seeds", "held_out_share", "protocols", "choose_epochs")
    given = {name: value for name in names if (value := getattr(settings, name)) is not None}
    return asked(
        images,
        model=network.model,
        models=settings.train_models or (),
        recipe=network.recipe,
        other_recipes={name: recipe for name, recipe in others.items() if recipe != network.recipe},
        runs=network.runs,
        device=network.device,
        **given,
    )
