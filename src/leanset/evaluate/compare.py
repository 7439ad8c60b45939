"""The comparison that users run on their own data."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from leanset._errors import InputError, RunFolderError
from leanset._progress import Reporter
from leanset.evaluate.bench import SELECTORS, STRATIFIED, Bench
from leanset.evaluate.display import (
    STRATIFIED_SHOWN,
    accuracy_panel,
    accuracy_table,
    certificate_table,
    difference_panel,
)
from leanset.evaluate.job import EQUAL_EPOCHS, EQUAL_STEPS, FULL, Job, checked_protocol
from leanset.evaluate.results import Outcome, SummaryRow, as_dicts, summary, verdicts, write_rows
from leanset.evaluate.study import Study
from leanset.report import curves_figure, save_figure
from leanset.report.machine import load, machine
from leanset.runs import Folder

TABLE = "table"  # sub-folder of the jobs


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is to be compared.

    Attributes
    ----------
    methods : by name; class-stratified random is always among them, as what the others are held against
    fractions : shares to remove
    seeds : trainings of each kind
    models : networks to train; the scorer if empty
    protocols : "equal-epochs", "equal-steps", "epochs=K"

    Examples
    --------
    >>> Question(methods=("leanset",), fractions=(0.4,), seeds=3).methods
    ('stratified-random', 'leanset')
    """

    methods: tuple[str, ...]
    fractions: tuple[float, ...]
    seeds: int
    models: tuple[str, ...] = ()
    protocols: tuple[str, ...] = (EQUAL_EPOCHS, EQUAL_STEPS)

    def __post_init__(self) -> None:
        unknown = [method for method in self.methods if method not in SELECTORS]
        if unknown:
            raise InputError(f"method {unknown[0]!r} is unknown; choose from {', '.join(SELECTORS)}.")
        wrong = [fraction for fraction in self.fractions if not 0 < fraction < 1]
        if wrong or not self.fractions:
            raise InputError(f"fractions {self.fractions} must lie in (0, 1).")
        if self.seeds < 1:
            raise InputError(f"`seeds={self.seeds}` must be at least 1; intervals need at least 2.")
        for protocol in self.protocols:
            checked_protocol(protocol)
        if not self.protocols:
            raise InputError("at least one protocol is needed.")
        object.__setattr__(self, "methods", (STRATIFIED, *self.methods))
        for name in ("methods", "fractions", "models", "protocols"):  # what is named twice is done once
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))

    def jobs(self, scorer: str) -> list[Job]:
        """Return the trainings that answer it; on everything, equal steps are equal epochs."""
        whole = dict.fromkeys(EQUAL_EPOCHS if protocol == EQUAL_STEPS else protocol for protocol in self.protocols)
        jobs = []
        for seed in range(self.seeds):
            for model in self.models or (scorer,):
                jobs += [Job(seed, 0.0, model, protocol, FULL) for protocol in whole]
                jobs += [
                    Job(seed, fraction, model, protocol, method)
                    for protocol in self.protocols
                    for fraction in self.fractions
                    for method in self.methods
                ]
        return jobs


@dataclass(frozen=True)
class Answer:
    """What a comparison found: one row a method, fraction, network and protocol; and the same in words."""

    rows: tuple[SummaryRow, ...]
    verdicts: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return plain values; what is not a number is null."""
        rows = [{k: None if v != v else v for k, v in asdict(row).items()} for row in self.rows]
        return {"rows": rows, "verdicts": list(self.verdicts)}


def compare(bench: Bench, question: Question, out: Path, *, workers: int | None, reporter: Reporter) -> Answer:
    """Train what is not trained yet, and write tables, figures and verdicts.

    Parameters
    ----------
    bench : data and networks
    question : what to compare
    out : folder; a study that was interrupted, or that another process works on, is taken up there
    workers : processes; as many as cores if None
    reporter : told of progress
    """
    if (out.is_dir() and any(out.iterdir())) and not (out / TABLE).is_dir():
        raise RunFolderError(f"{out}: is in use for something else; choose an empty or new output folder.")
    study, jobs = Study(bench, out / TABLE), question.jobs(bench.scorer)
    study.run(jobs, workers=workers, reporter=reporter)
    outcomes = study.outcomes(jobs)
    rows = summary(outcomes, STRATIFIED)
    said = verdicts(rows, STRATIFIED, STRATIFIED_SHOWN)
    write_rows(out, "trainings", outcomes)
    write_rows(out, "summary", as_dicts(rows))
    answer = Answer(tuple(rows), tuple(said))
    files = Folder(out)
    files.write_json("answer.json", json.loads(json.dumps(answer.to_dict())))
    files.write_json("record.json", _record(bench, question, outcomes))
    files.write_text("README.md", "\n".join(_page(rows, said)) + "\n")
    panels = []
    for title, part in parts_of(rows):
        panels += [accuracy_panel(title, part), difference_panel(f"{title}: against random", part)]
    save_figure(curves_figure(panels), out, "accuracy")
    return answer


def parts_of(rows: Sequence[SummaryRow]) -> list[tuple[str, list[SummaryRow]]]:
    """Split a summary by network and protocol; training on everything belongs to each protocol of its network."""
    found = []
    for model, protocol in dict.fromkeys((row.model, row.protocol) for row in rows if row.method != FULL):
        whole_protocol = EQUAL_EPOCHS if protocol == EQUAL_STEPS else protocol
        part = [
            row
            for row in rows
            if row.model == model and row.protocol == (whole_protocol if row.method == FULL else protocol)
        ]
        found.append((f"{model}, {protocol.replace('-', ' ')}", part))
    return found


def _record(bench: Bench, question: Question, outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Return how the answer was come by: the question, the bench, and the machine."""
    return {
        "question": asdict(question),
        "bench": bench.identity(),
        "training_seconds": round(sum(row["seconds"] for row in outcomes), 1),
        "threads_a_training": sorted({row["threads"] for row in outcomes}),
        "machine": machine() | {"load_at_end": load()},
    }


def _page(rows: Sequence[SummaryRow], said: Sequence[str]) -> list[str]:
    lines = ["# Comparison", ""]
    for title, part in parts_of(rows):
        lines += [*accuracy_table(part, title), ""]
    first = parts_of(rows)[0][1]
    return [*lines, *certificate_table(first), "", *(f"- {line}" for line in said)]
