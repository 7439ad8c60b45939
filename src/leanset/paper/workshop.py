"""What every experiment is given, and how it writes down what it found."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset._progress import Reporter
from leanset.data import Images
from leanset.evaluate.bench import Bench, stratified_places
from leanset.evaluate.job import Job
from leanset.evaluate.results import Outcome, write_rows
from leanset.evaluate.study import Study
from leanset.paper.scale import Scale
from leanset.report import save_figure
from leanset.report.machine import load, machine
from leanset.runs import Folder
from leanset.training.recipe import Recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONE_BY_ONE = (
    "Each of these lines judges one comparison by itself; `p_adjusted` in summary.csv corrects for all of them."
)


@dataclass(frozen=True)
class Workshop:
    """Data, size and place of the experiments. Trainings that two experiments have in common are done once.

    Attributes
    ----------
    source : the data, all of it
    scale : how large
    out : folder; `out/<experiment>/` holds what was found
    work : folder of the finished trainings
    command : what the user typed, for the record
    seeds : trainings of each kind; the scale's if None
    workers : processes
    reporter : told of progress
    """

    source: Images
    scale: Scale
    out: Path
    work: Path
    command: str
    reporter: Reporter
    seeds: int | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("seeds", self.seeds), ("workers", self.workers)):
            if value is not None and value < 1:
                raise InputError(f"`{name}={value}` must be at least 1.")

    @cached_property
    def places(self) -> Rows:
        """Where the data of this scale lie in the source: a fixed draw of so many of each class, or all."""
        if self.scale.per_class is None:
            return np.arange(len(self.source))
        smallest = int(np.bincount(self.source.labels).min())
        return stratified_places(self.source.labels, min(self.scale.per_class, smallest))

    @cached_property
    def images(self) -> Images:
        """The data at this scale."""
        return self.source if self.scale.per_class is None else self.source.take(self.places)

    @property
    def seed_range(self) -> range:
        """The seeds of repeated trainings."""
        return range(self.scale.seeds if self.seeds is None else self.seeds)

    def study(
        self,
        scorer: str | None = None,
        images: Images | None = None,
        recipe: Recipe | None = None,
        name: str = "",
        suspects: bool = False,
    ) -> Study:
        """Return the table of trainings for a scorer, a data set and a recipe; `name` tells the latter two apart.

        With `suspects`, leanset is told that labels may be wrong.
        """
        scorer = scorer or self.scale.scorer
        bench = Bench(
            images=images or self.images,
            scorer=scorer,
            scorer_recipe=self.scale.recipe,
            recipe=recipe or self.scale.recipe,
            suspects=suspects,
        )
        return Study(bench, self.work / (f"{scorer}-{name}" if name else scorer))

    def finished(
        self, study: Study, jobs: Sequence[Job], *, divergence_is_chance: bool = False
    ) -> list[dict[str, Any]]:
        """Finish the jobs and return their rows."""
        study.run(jobs, workers=self.workers, reporter=self.reporter, divergence_is_chance=divergence_is_chance)
        return study.outcomes(jobs)


@dataclass
class Findings:
    """What an experiment found.

    Attributes
    ----------
    title : of the experiment
    protocol : how it was done, in a sentence or two
    tables : rows by file name
    figures : by file name
    lines : the result in words, Markdown
    outcomes : the trainings that all of this comes from
    """

    title: str
    protocol: str
    tables: dict[str, Sequence[Mapping[str, Any]]]
    figures: dict[str, "Figure"]
    lines: list[str]
    outcomes: Sequence[Outcome] = field(default=(), repr=False)


def write_findings(workshop: Workshop, name: str, findings: Findings, began: float) -> Path:
    """Write an experiment's folder: tables as CSV and parquet, figures as SVG and PNG, words and the record."""
    folder = workshop.out / name
    for table, rows in findings.tables.items():
        write_rows(folder, table, rows)
    for figure, drawn in findings.figures.items():
        save_figure(drawn, folder, figure)
    files = Folder(folder)
    head = [f"# {findings.title}", "", f"`{workshop.command}`", "", findings.protocol, ""]
    files.write_text("README.md", "\n".join(head + findings.lines) + "\n")
    files.write_json(
        "record.json",
        {
            "command": workshop.command,
            "protocol": findings.protocol,
            "seeds": sorted({row["seed"] for row in findings.outcomes}),
            "scale": {key: _plain(value) for key, value in vars(workshop.scale).items()},
            "examples": len(workshop.images),
            "trainings": len(findings.outcomes),
            "training_seconds": round(sum(row["seconds"] for row in findings.outcomes), 1),
            "selection_seconds": round(_selection_seconds(findings.outcomes), 1),
            "threads_a_training": sorted({row["threads"] for row in findings.outcomes}),
            "seconds_of_this_call": round(time.perf_counter() - began, 1),
            "machine": machine() | {"load_at_end": load()},
        },
    )
    return folder


def _selection_seconds(outcomes: Sequence[Outcome]) -> float:
    """Add up the time of every selection, once however many networks were trained on it."""
    seconds = {
        tuple(row.get(key) for key in ("labels", "method", "fraction", "seed")): row.get("selection_seconds") or 0.0
        for row in outcomes
    }
    return sum(seconds.values())


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value.to_dict() if hasattr(value, "to_dict") else value
