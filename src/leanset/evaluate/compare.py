"""The comparison that users run on their own data."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from leanset._errors import InputError
from leanset._folder import Folder, json_safe
from leanset._progress import Reporter, reporter_for
from leanset.data import Images, open_source
from leanset.evaluate.efficiency import efficiency_panels, savings
from leanset.evaluate.forecast import forecast
from leanset.evaluate.job import Job
from leanset.evaluate.markdown import (
    accuracy_table,
    certificate_table,
    choosing_table,
    difference_table,
    loss_table,
    seeds_table,
    work_table,
)
from leanset.evaluate.panels import panels_of
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.question import Question
from leanset.evaluate.setup import Setup, with_held_out
from leanset.evaluate.study import Study
from leanset.evaluate.summary import Outcome, SummaryRow, parts_of, summarise, training_seconds
from leanset.evaluate.words import beside_best, beside_shorter, costs, higher_losses, verdicts
from leanset.judge import (
    FULL,
    LEANSET,
    STRATIFIED,
    STRATIFIED_SHOWN,
    Forecast,
    about_leanset,
    as_dicts,
    check_free,
    write_rows,
)
from leanset.report import (
    StudyPart,
    check_figures,
    curves_figure,
    load,
    machine,
    save_figure,
    write_study_page,
)
from leanset.training import Recipe, preset, preset_of

TABLE = "table"  # sub-folder of the jobs
METHODS = ("leanset", "ccs", "el2n", "forgetting", "random")
FRACTIONS, SEEDS, HELD_OUT_SHARE = (0.2, 0.4, 0.6), 3, 0.2
PROTOCOLS = (EQUAL_EPOCHS, EQUAL_STEPS)


@dataclass(frozen=True)
class Answer:
    """What a comparison found.

    Attributes
    ----------
    rows : one for each method, fraction, network and protocol
    verdicts : each method against class-stratified random, in words
    choosing : what the network costs that all methods look at
    about_leanset : leanset beside all data, a shorter training and the best of the others, in words
    """

    rows: tuple[SummaryRow, ...]
    verdicts: tuple[str, ...]
    choosing: str
    about_leanset: tuple[str, ...] = ()

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a page about the comparison: one HTML file that opens from disk and needs no network."""
        part = StudyPart(
            "\n".join(_page(self)), panels_of(self.rows), verdicts=[*self.about_leanset, *about_leanset(self.verdicts)]
        )
        write_study_page(path, "Comparison of methods by training", [part])

    def to_dict(self) -> dict[str, object]:
        """Return plain values, with None for NaN."""
        words = {"verdicts": self.verdicts, "about_leanset": self.about_leanset, "choosing": self.choosing}
        plain: dict[str, object] = json_safe({"rows": as_dicts(self.rows)} | words)
        return plain


def compare(
    images: Images | str,
    *,
    model: str,
    methods: Sequence[str] = METHODS,
    fractions: Sequence[float] = FRACTIONS,
    seeds: int = SEEDS,
    out: str | os.PathLike[str],
    models: Sequence[str] = (),
    protocols: Sequence[str] = PROTOCOLS,
    recipe: Recipe | str | None = None,
    other_recipes: Mapping[str, Recipe] | None = None,
    choose_epochs: int | None = None,
    runs: int = 1,
    held_out_share: float = HELD_OUT_SHARE,
    device: str = "auto",
    workers: int | None = 1,
    progress: bool | None = None,
) -> Answer:
    """Train networks on what each method keeps, and compare the methods with class-stratified random.

    Parameters
    ----------
    images : images from `leanset.data.open_source`, or its argument, e.g. "cifar10:DIR"
    model : network that the methods look at
    methods : "leanset", "balanced" (leanset without coverage), "paper", or names of `leanset.scores`; "shorter" trains on all
        examples for as few steps as the others get, which pruning has to beat where only time counts
    fractions : shares of the examples to remove
    seeds : trainings of each kind; jobs with the same seed are compared in pairs
    out : folder for the results; trainings that are finished there are not repeated
    models : networks to train on the kept examples; `model` if empty
    protocols : "equal-epochs", "equal-steps" or "epochs=K"; with "+total-decay" after it, the weight decay is divided by the
        share kept
    recipe : how to train the networks, or the name of a preset; if None, each gets the preset with its own name, else "fast"
    other_recipes : by name, recipes of networks that `recipe` does not suit
    choose_epochs : epochs of the network that methods look at; as many as in `recipe` if None
    runs : trainings of `model` over which scores are averaged
    held_out_share : share of each class to set aside for testing, if there are no held-out images
    device : "auto", "cpu", "cuda" or "mps"
    workers : trainings to run at the same time, each in its own process; None for one per core, or one on a GPU. With
        more than one, a script must call this under `if __name__ == "__main__":`
    progress : show progress bars; None shows them in a terminal

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> import leanset.torch as lt
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(60) % 2
    >>> pixels = rng.integers(0, 100, (60, 1, 12, 12)) + 100 * labels[:, None, None, None]
    >>> images = lt.Images(pixels.astype(np.uint8), labels, ("dark", "bright"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answer = lt.compare(images, model="lenet", methods=["el2n"], fractions=[0.5], seeds=1, out=folder,
    ...                         recipe=lt.Recipe(epochs=1, lr=0.01, flip=False), protocols=["equal-epochs"])
    >>> [row.method for row in answer.rows]
    ['full', 'stratified-random', 'el2n']
    """
    setup, question = asked(
        images,
        model=model,
        methods=methods,
        fractions=fractions,
        seeds=seeds,
        models=models,
        protocols=protocols,
        recipe=recipe,
        other_recipes=other_recipes,
        choose_epochs=choose_epochs,
        runs=runs,
        held_out_share=held_out_share,
        device=device,
    )
    with reporter_for(progress) as reporter:
        return run_comparison(setup, question, Path(out), workers=workers, reporter=reporter)


def asked(
    images: Images | str,
    *,
    model: str,
    methods: Sequence[str] = METHODS,
    fractions: Sequence[float] = FRACTIONS,
    seeds: int = SEEDS,
    models: Sequence[str] = (),
    protocols: Sequence[str] = PROTOCOLS,
    recipe: Recipe | str | None = None,
    other_recipes: Mapping[str, Recipe] | None = None,
    choose_epochs: int | None = None,
    runs: int = 1,
    held_out_share: float = HELD_OUT_SHARE,
    device: str = "auto",
) -> tuple[Setup, Question]:
    """Return the setup and the question of a comparison; parameters as for `compare`."""
    opened = _opened(images)
    question = Question(
        methods=tuple(methods),
        fractions=tuple(fractions),
        seeds=seeds,
        models=tuple(models),
        protocols=tuple(protocols),
    )
    chosen = recipe if isinstance(recipe, Recipe) else preset(recipe or preset_of(model))
    others = dict(other_recipes or {})
    if recipe is None:
        others = {name: preset(preset_of(name)) for name in models if preset_of(name) != preset_of(model)} | others
    setup = Setup(
        images=with_held_out(opened, held_out_share),
        scorer=model,
        scorer_recipe=chosen.with_changes(epochs=choose_epochs),
        recipe=chosen,
        other_recipes=others,
        runs=runs,
        device=device,
    )
    return setup, question


def forecast_comparison(setup: Setup, question: Question, out: Path, *, workers: int | None) -> Forecast:
    """Estimate what `run_comparison` would take with the same arguments; nothing is trained or written."""
    check_free(out, TABLE)
    return forecast(Study(setup, out / TABLE), question.jobs(setup.scorer), workers)


def _opened(images: Images | str) -> Images:
    opened = open_source(images) if isinstance(images, str) else images
    if not isinstance(opened, Images):
        raise InputError(f"`images={images!r}` must hold images to train networks on; it holds features.")
    return opened


def run_comparison(
    setup: Setup, question: Question, out: Path, *, workers: int | None, reporter: Reporter, only_finished: bool = False
) -> Answer:
    """Train what is missing, and write tables, figures and verdicts.

    Parameters
    ----------
    setup : data and networks
    question : what to compare
    out : folder for the results; continues a comparison that was interrupted, or joins one that is running
    workers : number of processes; one per core if None
    reporter : receives the progress
    only_finished : train nothing, and take all that is finished in `out`, whatever the question
    """
    check_free(out, TABLE)
    check_figures()
    study = Study(setup, out / TABLE)
    if only_finished:
        jobs = _finished(study)
        question = Question.of(jobs)
        setup = setup.with_recipes(study.table.recipes())  # the networks there need not be those of the question
        study = replace(study, setup=setup)
    else:
        jobs = question.jobs(setup.scorer)
        study.run(jobs, workers=workers, reporter=reporter)
    outcomes = [row | {"pflop": study.pflop(job, row["kept"])} for job, row in study.finished(jobs)]
    rows = summarise(outcomes, STRATIFIED)
    choosing = {kind: setup.choosing_cost(*kind) for kind in {(row.model, row.protocol) for row in rows}}
    usual = {model: setup.choosing_cost(model) for model, _ in choosing}
    answer = Answer(
        tuple(rows),
        tuple(verdicts(rows, STRATIFIED, STRATIFIED_SHOWN)),
        _choosing(setup, outcomes, study.table.scorer_cost()),
        (
            *costs(rows, LEANSET, choosing),
            *higher_losses(rows, LEANSET, STRATIFIED_SHOWN),
            *savings(outcomes, LEANSET, usual),
            *beside_shorter(outcomes, LEANSET),
            *beside_best(outcomes, LEANSET),
        ),
    )
    _write(out, answer, outcomes)
    Folder(out).write_json("record.json", _record(study, question, outcomes))
    return answer


def _finished(study: Study) -> list[Job]:
    study.table.check(study.setup.identity())
    jobs = study.table.finished()
    if all(job.on_all for job in jobs):
        raise InputError(f"{study.path}: no training on a chosen set is finished there.")
    return jobs


def _write(out: Path, answer: Answer, outcomes: Sequence[Outcome]) -> None:
    write_rows(out, "trainings", outcomes)
    write_rows(out, "summary", as_dicts(answer.rows))
    Folder(out).write_json("answer.json", answer.to_dict())
    Folder(out).write_text("README.md", "\n".join(_page(answer)) + "\n")
    save_figure(curves_figure(panels_of(answer.rows)), out, "accuracy")
    if panels := efficiency_panels(outcomes):
        save_figure(curves_figure(panels), out, "efficiency")


def _record(study: Study, question: Question, outcomes: Sequence[Outcome]) -> dict[str, object]:
    return {
        "question": asdict(question),
        "setup": study.setup.identity(),
        "recipes": study.table.recipes(),
        "training_seconds": training_seconds(outcomes),
        "threads_a_training": sorted({row["threads"] for row in outcomes}),
        "precisions": dict(Counter(row["precision"] for row in outcomes)),
        "machine": machine() | {"load_at_end": load()},
    }


def _page(answer: Answer) -> list[str]:
    parts = sorted(parts_of(answer.rows), key=lambda part: -len(part[1]))  # the fullest first
    lines = ["# Comparison", ""]
    for title, part in parts:
        tables = (
            accuracy_table(part, title),
            difference_table(part),
            seeds_table(part),
            loss_table(part, title),
            work_table(part, title),
        )
        lines += [line for table in tables if table for line in (*table, "")]
    lines += [*certificate_table(parts[0][1]), "", *choosing_table(parts[0][1]), "", answer.choosing, ""]
    return [*lines, *(f"- {line}" for line in (*answer.about_leanset, *answer.verdicts))]


def _choosing(setup: Setup, outcomes: Sequence[Outcome], cost: Mapping[str, float] | None) -> str:
    """Say what the network costs that all methods look at: its time, and its arithmetic beside one training on all examples.

    Not its share of the time: a training that was stopped, or done on another machine, would make it any number.
    """
    shared = f"All methods look at one {setup.scorer}, which is trained once"
    full = [row["model"] for row in outcomes if row["method"] == FULL]
    if cost is None or not full:
        return f"{shared}; its time is not among those of choosing."
    share = 100 * setup.choosing_cost(full[0])
    return (
        f"{shared}, in {cost['seconds']:.3g} s on {_threads(cost['threads'])}; that is the arithmetic of {share:.3g} % of one "
        f"training of {full[0]} on all data. This is not among the times of choosing."
    )


def _threads(number: float) -> str:
    return "one thread" if number == 1 else f"{number:g} threads"
