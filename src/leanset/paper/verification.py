"""Figure 2: the generalisation gap that theory predicts, beside the one that retraining shows."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from leanset._arrays import mask_of
from leanset._progress import Advance
from leanset._threads import working_threads
from leanset.certify import predictions
from leanset.evaluate.bench import BALANCED, LEANSET, PAPER, STRATIFIED
from leanset.evaluate.job import EQUAL_EPOCHS, FULL, Job
from leanset.evaluate.study import Study
from leanset.paper.theory import Agreement, MeanGap, TheoryRow, agreement, mean_gaps, retraining_row
from leanset.paper.workshop import Findings, Workshop
from leanset.pipeline.ground import prepare_ground
from leanset.pipeline.inputs import inputs_from
from leanset.pipeline.settings import checked_settings, constraints_of
from leanset.report import Bars, bars_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = (STRATIFIED, PAPER, BALANCED, LEANSET)  # a random set, and three ways to optimise one
_SHOWN = {
    "paper": "the paper's ‖WᵀS‖",
    "centred": "centred, rescaled",
    "newton": "Newton step",
    "refit": "refit of the head",
    "retraining": "retrained network",
}


def theory_jobs(workshop: Workshop) -> list[Job]:
    """Return the retrainings: random and optimised sets, and everything."""
    scale = workshop.scale
    return [
        Job(seed, fraction, scale.scorer, EQUAL_EPOCHS, method)
        for seed in workshop.seed_range
        for method, fraction in (
            (FULL, 0.0),
            *((method, fraction) for method in METHODS for fraction in scale.theory_fractions),
        )
    ]


def theory(workshop: Workshop) -> Findings:
    """Run the experiment."""
    study, jobs = workshop.study(), theory_jobs(workshop)
    outcomes = workshop.finished(study, jobs)
    loss = {(row["method"], row["fraction"], row["seed"]): row["loss"] for row in outcomes}
    sets = [job for job in jobs if job.method != FULL]
    with (
        working_threads(None),
        workshop.reporter.stage("What theory says of each set", units=len(sets), unit="sets") as advance,
    ):
        rows = _predicted(study, sets, advance)
    for job in sets:
        pruned, full = loss[job.method, job.fraction, job.seed], loss[FULL, 0.0, job.seed]
        rows.append(retraining_row(job.method, job.fraction, job.seed, pruned_loss=pruned, full_loss=full))
    gaps = mean_gaps(rows)
    fractions = workshop.scale.theory_fractions
    figures = {f"gap-{100 * fraction:g}": _figure(gaps, fraction) for fraction in fractions}
    agreements = [(fraction, agreement([row for row in rows if row.fraction == fraction])) for fraction in fractions]
    return Findings(
        title="Theory against retraining (figure 2 of the paper)",
        protocol=f"{workshop.scale.scorer}, {len(workshop.images):,} training images, {workshop.scale.recipe.epochs} epochs, "
        f"{len(workshop.seed_range)} seeds. Gaps are held-out losses after removal minus before. Four rules speak of the head "
        "on fixed features; the last is the whole network, trained anew. `balanced` is leanset without coverage.",
        tables={
            "trainings": outcomes,
            "sets": [asdict(row) for row in rows],
            "gaps": [
                {"method": mean.method, "fraction": mean.fraction, "rule": mean.rule} | asdict(mean.gap)
                for mean in gaps
            ],
            "agreement": [{"fraction": fraction} | asdict(found) for fraction, part in agreements for found in part],
        },
        figures=figures,
        lines=[*_change_table(rows), "", *_gap_table(gaps), "", *_agreement_table(agreement(rows), agreements)],
        outcomes=outcomes,
    )


def _predicted(study: Study, jobs: list[Job], advance: Advance) -> list[TheoryRow]:
    inputs = inputs_from(study.statistics())
    # Only the head and its inverses are wanted; the budget plays no part in them.
    settings = checked_settings(inputs, count=1, coverage="none", frontier=False)
    ground = prepare_ground(inputs, settings, constraints_of(inputs.examples, settings), None)
    assert ground.validation is not None  # a bench has held-out images
    rows = []
    for nth, job in enumerate(jobs):
        removed = ~mask_of(study.kept(job), len(inputs.examples))
        said = predictions(ground.state, removed, ground.for_sums, ground.precondition, ground.validation)
        rows += [TheoryRow(job.method, job.fraction, job.seed, **asdict(prediction)) for prediction in said]
        advance((nth + 1) / len(jobs))
    return rows


def _figure(gaps: list[MeanGap], fraction: float) -> "Figure":
    found = {(mean.method, mean.rule): mean.gap for mean in gaps if mean.fraction == fraction}
    bars = [
        Bars(
            method,
            [found[method, rule].mean for rule in _SHOWN],
            [found[method, rule].low for rule in _SHOWN],
            [found[method, rule].high for rule in _SHOWN],
        )
        for method in METHODS
    ]
    return bars_figure(
        f"Loss gap, {100 * fraction:g} % removed", "held-out loss after minus before", list(_SHOWN.values()), bars
    )


def _change_table(rows: list[TheoryRow]) -> list[str]:
    lines = ["| removed | set | " + " | ".join(f"‖Δθ‖, {_SHOWN[rule]}" for rule in list(_SHOWN)[:-1]) + " |"]
    lines.append("|---|---|" + "---|" * (len(_SHOWN) - 1))
    for fraction, method in dict.fromkeys((row.fraction, row.method) for row in rows):
        cells = [
            f"{np.mean([r.change for r in rows if (r.fraction, r.method, r.rule) == (fraction, method, rule)]):.3g}"
            for rule in list(_SHOWN)[:-1]
        ]
        lines.append(f"| {100 * fraction:g} % | {method} | " + " | ".join(cells) + " |")
    return lines


def _gap_table(gaps: list[MeanGap]) -> list[str]:
    lines = ["| removed | set | " + " | ".join(f"gap, {shown}" for shown in _SHOWN.values()) + " |"]
    lines.append("|---|---|" + "---|" * len(_SHOWN))
    found = {(mean.fraction, mean.method, mean.rule): mean.gap.mean for mean in gaps}
    for fraction, method in dict.fromkeys((mean.fraction, mean.method) for mean in gaps):
        cells = [f"{found[fraction, method, rule]:+.4f}" for rule in _SHOWN]
        lines.append(f"| {100 * fraction:g} % | {method} | " + " | ".join(cells) + " |")
    return lines


def _agreement_table(found: list[Agreement], by_fraction: list[tuple[float, list[Agreement]]]) -> list[str]:
    """Lay the rules side by side; gaps grow with the fraction, so correlations are also given among sets of one size."""
    sizes = " | ".join(f"at {100 * fraction:g} %" for fraction, _ in by_fraction)
    lines = [f"| rule | foresees | slope, all sets | rank correlation, all sets | {sizes} |"]
    lines.append("|---|---|---|---|" + "---|" * len(by_fraction))
    for row in found:
        within = [part.spearman for _, parts in by_fraction for part in parts if _pair(part) == _pair(row)]
        cells = " | ".join(f"{value:.2f}" for value in (row.slope, row.spearman, *within))
        lines.append(f"| {_SHOWN[row.rule]} | {_SHOWN[row.reference]} | {cells} |")
    return lines


def _pair(row: Agreement) -> tuple[str, str]:
    return row.rule, row.reference
