"""Figure 1: held-out accuracy against the fraction removed, every method in one run."""

from collections.abc import Sequence

from leanset.evaluate.bench import LEANSET, STRATIFIED
from leanset.evaluate.display import (
    STRATIFIED_SHOWN,
    accuracy_panel,
    accuracy_table,
    certificate_table,
    difference_panel,
)
from leanset.evaluate.job import EQUAL_EPOCHS, EQUAL_STEPS, FULL, Job
from leanset.evaluate.results import SummaryRow, as_dicts, summary, verdicts
from leanset.paper.workshop import ONE_BY_ONE, Findings, Workshop
from leanset.report import curves_figure


def pruning_jobs(workshop: Workshop) -> list[Job]:
    """Return every method at every fraction and seed, and training on everything."""
    scale = workshop.scale
    jobs = []
    for seed in workshop.seed_range:
        jobs.append(Job(seed, 0.0, scale.scorer, EQUAL_EPOCHS, FULL))
        for method in scale.methods:
            jobs += [Job(seed, fraction, scale.scorer, EQUAL_EPOCHS, method) for fraction in scale.fractions]
        for method in scale.step_methods:
            jobs += [Job(seed, fraction, scale.scorer, EQUAL_STEPS, method) for fraction in scale.step_fractions]
    return jobs


def pruning(workshop: Workshop) -> Findings:
    """Run the experiment."""
    scale, jobs = workshop.scale, pruning_jobs(workshop)
    outcomes = workshop.finished(workshop.study(), jobs)
    rows = summary(outcomes, STRATIFIED)
    by_epochs = [row for row in rows if row.protocol == EQUAL_EPOCHS]
    panels = [
        accuracy_panel("Equal epochs", by_epochs),
        difference_panel("Against class-stratified random", by_epochs),
    ]
    lines = [*accuracy_table(by_epochs), "", *certificate_table(by_epochs), ""]
    by_steps = [row for row in rows if row.protocol == EQUAL_STEPS]
    lines += [*accuracy_table(by_steps, "Equal steps"), ""] if by_steps else []
    lines += [*_standing(by_epochs), ""]
    lines += [*(f"- {line}" for line in verdicts(rows, STRATIFIED, STRATIFIED_SHOWN)), "", ONE_BY_ONE]
    return Findings(
        title="Pruning curves (figure 1 of the paper)",
        protocol=f"{scale.scorer} chooses and is trained; {len(workshop.images):,} training images, "
        f"{scale.recipe.epochs} epochs, {len(workshop.seed_range)} seeds, held-out accuracy with 95 % intervals; classes keep "
        "their share except for `random` and `paper`. The network that methods look at is trained once, with a seed of its "
        "own.",
        tables={"trainings": outcomes, "summary": as_dicts(rows)},
        figures={"accuracy": curves_figure(panels)},
        lines=lines,
        outcomes=outcomes,
    )


def _standing(rows: Sequence[SummaryRow]) -> list[str]:
    """Say at each fraction which other method was best, and how leanset stands to it."""
    lines = []
    for fraction in sorted({row.fraction for row in rows if row.method != FULL}):
        others = [row for row in rows if row.fraction == fraction and row.method not in (LEANSET, FULL)]
        ours = [row for row in rows if row.fraction == fraction and row.method == LEANSET]
        if not others or not ours:
            continue
        best = max(others, key=lambda row: row.accuracy)
        lines.append(
            f"- {100 * fraction:g} % removed: leanset {100 * ours[0].accuracy:.2f}, best other method {best.method} "
            f"{100 * best.accuracy:.2f}."
        )
    return lines
