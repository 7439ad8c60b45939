"""Figure 2: the loss gaps that theory predicts, beside those that retraining shows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leanset._arrays import mask_of
from leanset._progress import Advance, Silent
from leanset._threads import working_threads
from leanset.certify import predictions
from leanset.evaluate import Job, Outcome, Study
from leanset.fitting import fitted_task
from leanset.inputs import inputs_from
from leanset.judge import BALANCED, FULL, LEANSET, PAPER, STRATIFIED, as_dicts, markdown_table
from leanset.paper.experiment import Experiment, jobs_with_full
from leanset.paper.findings import Findings
from leanset.paper.gap_rows import Agreement, GapRow, MeanGap, agreement, mean_gaps, retraining_row
from leanset.paper.scale import SCALES
from leanset.plan import plan_for
from leanset.report import Bars, bars_figure
from leanset.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = (STRATIFIED, PAPER, BALANCED, LEANSET)  # a random set, and three ways to optimise one
_SHOWN = {
    "published": "the paper's ‖WᵀS‖",
    "centred": "centred, rescaled",
    "newton": "Newton step",
    "refit": "refit of the head",
    "retraining": "retrained network",
}


@dataclass(frozen=True, kw_only=True)
class TheorySettings:
    """Settings of the check of the theory: the shares of the examples to remove."""

    fractions: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)

    def jobs(self, experiment: Experiment) -> list[Job]:
        """Return the retrainings on random and on optimised sets, and on all examples."""
        scorer = experiment.scale.scorer
        return [job for seed in experiment.seed_range for job in jobs_with_full(seed, scorer, METHODS, self.fractions)]

    def studies(self, experiment: Experiment) -> list[Study]:
        """Return the study that trains them."""
        return [experiment.study()]

    def run(self, experiment: Experiment) -> Findings:
        """Run the experiment."""
        [study], jobs = self.studies(experiment), self.jobs(experiment)
        outcomes = experiment.finished(study, jobs)
        sets = [job for job in jobs if job.method != FULL]
        with (
            working_threads(None),
            experiment.reporter.stage("Predictions for each set", units=len(sets), unit="sets") as advance,
        ):
            rows = [*_predicted(study, sets, advance), *_retrained(outcomes, sets)]
        gaps = mean_gaps(rows)
        by_fraction = [(f, agreement([row for row in rows if row.fraction == f])) for f in self.fractions]
        return Findings(
            title="Theory against retraining (figure 2 of the paper)",
            protocol=f"{experiment.scale.scorer}, {experiment.size}. A gap is the held-out loss after the removal minus the "
            "loss before. Four rules are about the head on fixed features; the last column is the whole network, "
            "trained again. `balanced` is leanset without coverage.",
            outcomes=outcomes,
            tables=_tables(rows, gaps, by_fraction),
            figures={f"gap-{100 * fraction:g}": _figure(gaps, fraction) for fraction in self.fractions},
            lines=[*_change_table(rows), "", *_gap_table(gaps), "", *_agreement_table(agreement(rows), by_fraction)],
        )


SIZES = dict.fromkeys(SCALES, TheorySettings())


def _predicted(study: Study, jobs: list[Job], advance: Advance) -> list[GapRow]:
    # Only the head and its inverses are wanted; the budget plays no part in them.
    settings = Settings(count=1, coverage="none", frontier=False)
    inputs = inputs_from(study.statistics(), settings)
    task, _, _ = fitted_task(inputs, plan_for(settings, inputs.outline()), None, Silent())
    assert task.validation is not None  # a setup has held-out images
    rows = []
    for nth, job in enumerate(jobs):
        removed = ~mask_of(study.kept(job), len(inputs.examples))
        said = predictions(task.head, removed, task.inverses, task.validation)
        rows += [GapRow(job.method, job.fraction, job.seed, **asdict(prediction)) for prediction in said]
        advance((nth + 1) / len(jobs))
    return rows


def _retrained(outcomes: Sequence[Outcome], sets: Sequence[Job]) -> list[GapRow]:
    loss = {(row["method"], row["fraction"], row["seed"]): row["loss"] for row in outcomes}
    return [
        retraining_row(
            job.method,
            job.fraction,
            job.seed,
            pruned_loss=loss[job.method, job.fraction, job.seed],
            full_loss=loss[FULL, 0.0, job.seed],
        )
        for job in sets
    ]


def _tables(
    rows: list[GapRow], gaps: list[MeanGap], by_fraction: list[tuple[float, list[Agreement]]]
) -> dict[str, list[dict[str, Any]]]:
    return {
        "sets": as_dicts(rows),
        "gaps": [
            {"method": mean.method, "fraction": mean.fraction, "rule": mean.rule} | asdict(mean.gap) for mean in gaps
        ],
        "agreement": [{"fraction": fraction} | asdict(found) for fraction, part in by_fraction for found in part],
    }


def _figure(gaps: list[MeanGap], fraction: float) -> "Figure":
    found = {(mean.method, mean.rule): mean.gap for mean in gaps if mean.fraction == fraction}
    bars = [
        Bars(method, *([getattr(found[method, rule], end) for rule in _SHOWN] for end in ("mean", "low", "high")))
        for method in METHODS
    ]
    return bars_figure(
        f"Loss gap, {100 * fraction:g} % removed", "held-out loss after minus before", list(_SHOWN.values()), bars
    )


def _change_table(rows: list[GapRow]) -> list[str]:
    rules = list(_SHOWN)[:-1]  # retraining changes the features too, so the heads cannot be compared
    changes: dict[tuple[float, str, str], list[float]] = {}
    for row in rows:
        changes.setdefault((row.fraction, row.method, row.rule), []).append(row.change)
    return markdown_table(
        ["removed", "set", *(f"‖Δθ‖, {_SHOWN[rule]}" for rule in rules)],
        [
            [f"{100 * fraction:g} %", method, *(f"{np.mean(changes[fraction, method, rule]):.3g}" for rule in rules)]
            for fraction, method in dict.fromkeys((row.fraction, row.method) for row in rows)
        ],
    )


def _gap_table(gaps: list[MeanGap]) -> list[str]:
    found = {(mean.fraction, mean.method, mean.rule): mean.gap.mean for mean in gaps}
    return markdown_table(
        ["removed", "set", *(f"gap, {shown}" for shown in _SHOWN.values())],
        [
            [f"{100 * fraction:g} %", method, *(f"{found[fraction, method, rule]:+.4f}" for rule in _SHOWN)]
            for fraction, method in dict.fromkeys((mean.fraction, mean.method) for mean in gaps)
        ],
    )


def _agreement_table(found: list[Agreement], by_fraction: list[tuple[float, list[Agreement]]]) -> list[str]:
    """Compare the rules. Gaps grow with the fraction, so correlations are also given among sets of the same size."""
    rows = []
    for row in found:
        within = [part.spearman for _, parts in by_fraction for part in parts if _pair(part) == _pair(row)]
        numbers = (f"{value:.2f}" for value in (row.slope, row.spearman, *within))
        rows.append([_SHOWN[row.rule], _SHOWN[row.reference], *numbers])
    sizes = (f"at {100 * fraction:g} %" for fraction, _ in by_fraction)
    return markdown_table(["rule", "predicts", "slope, all sets", "rank correlation, all sets", *sizes], rows)


def _pair(row: Agreement) -> tuple[str, str]:
    return row.rule, row.reference
