"""What an experiment of the paper found, and the files that are written from it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leanset._folder import Folder
from leanset.evaluate import Outcome, SummaryRow, training_seconds, verdicts
from leanset.judge import STRATIFIED, STRATIFIED_SHOWN, write_rows
from leanset.paper.experiment import Experiment
from leanset.report import StudyPart, load, machine, save_figure, write_study_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ONE_BY_ONE = "Each line is about one comparison only; `p_adjusted` in summary.csv corrects for all of them."


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What an experiment found.

    Attributes
    ----------
    title : title of the experiment
    protocol : how it was done, in a sentence or two
    outcomes : rows of the trainings, on which everything else is based
    tables : rows of other tables, by file name
    figures : figures by file name
    lines : the results as Markdown
    """

    title: str
    protocol: str
    outcomes: Sequence[Outcome]
    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    figures: Mapping[str, "Figure"]
    lines: Sequence[str]


def verdict_lines(rows: Sequence[SummaryRow]) -> list[str]:
    """Return as Markdown how each method compares with class-stratified random."""
    return [*(f"- {line}" for line in verdicts(rows, STRATIFIED, STRATIFIED_SHOWN)), "", _ONE_BY_ONE]


def write_paper_report(path: Path, folders: Sequence[Path]) -> None:
    """Write the results of experiments, from their folders, as one HTML page."""
    studies = [
        StudyPart(Folder(folder).read_text("README.md"), pictures=sorted(folder.glob("*.png"))) for folder in folders
    ]
    write_study_page(path, "The paper's experiments", studies)


def write_findings(
    name: str, experiment: Experiment, settings: Mapping[str, Any], findings: Findings, began: float
) -> Path:
    """Write tables as CSV and Parquet, figures as SVG and PNG, the results in words, and the record.

    Parameters
    ----------
    name : name of the experiment, and of its folder in `experiment.out`
    experiment : data, scale and folders
    settings : the experiment's own settings, for the record
    findings : what to write
    began : `time.perf_counter()` at the start, for the record

    Returns
    -------
    The folder.
    """
    folder = experiment.out / name
    for table, rows in {"trainings": findings.outcomes, **findings.tables}.items():
        write_rows(folder, table, rows)
    for figure, drawn in findings.figures.items():
        save_figure(drawn, folder, figure)
    head = [f"# {findings.title}", "", f"`{experiment.command}`", "", findings.protocol, ""]
    Folder(folder).write_text("README.md", "\n".join([*head, *findings.lines]) + "\n")
    record = _record(experiment, settings, findings) | {"seconds_of_this_call": round(time.perf_counter() - began, 1)}
    Folder(folder).write_json("record.json", record)
    return folder


def _record(experiment: Experiment, settings: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    outcomes = findings.outcomes
    return {
        "command": experiment.command,
        "protocol": findings.protocol,
        "seeds": sorted({row["seed"] for row in outcomes}),
        "scale": asdict(experiment.scale) | {"recipe": experiment.scale.recipe.to_dict()},
        "settings": settings,
        "examples": len(experiment.images),
        "trainings": len(outcomes),
        "training_seconds": training_seconds(outcomes),
        "selection_seconds": round(_selection_seconds(outcomes), 1),
        "threads_a_training": sorted({row["threads"] for row in outcomes}),
        "machine": machine() | {"load_at_end": load()},
    }


def _selection_seconds(outcomes: Sequence[Outcome]) -> float:
    """Add up the time of all selections; one that several networks were trained on counts once."""
    seconds = {
        tuple(row.get(key) for key in ("labels", "method", "fraction", "seed")): row.get("selection_seconds") or 0.0
        for row in outcomes
    }
    return sum(seconds.values())
