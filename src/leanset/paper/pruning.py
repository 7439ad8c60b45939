"""Figure 1: held-out accuracy against the fraction removed, every method in one run."""

import math
from collections.abc import Sequence

from leanset.evaluate.bench import LEANSET, STRATIFIED
from leanset.evaluate.job import EQUAL_EPOCHS, EQUAL_STEPS, FULL, Job
from leanset.evaluate.results import SummaryRow, as_dicts, summary, verdicts
from leanset.paper.workshop import Findings, Workshop
from leanset.report import Curve, Panel, curves_figure
from leanset.report.canvas import Style

STRATIFIED_SHOWN = "class-stratified random"


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
    lines += [f"- {line}" for line in verdicts(rows, STRATIFIED, STRATIFIED_SHOWN)]
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


def style_of(method: str) -> Style:
    """Return how a method is drawn."""
    if method == LEANSET:
        return "ours"
    return "baseline" if method == STRATIFIED else "other"


def accuracy_panel(title: str, rows: Sequence[SummaryRow]) -> Panel:
    """Draw accuracy against the fraction removed, with training on everything as reference."""
    whole = next((100 * row.accuracy for row in rows if row.method == FULL), None)
    curves = []
    for method in _methods(rows):
        mine = _of(rows, method)
        curves.append(
            Curve(
                method,
                [100 * row.fraction for row in mine],
                [100 * row.accuracy for row in mine],
                [100 * row.low for row in mine],
                [100 * row.high for row in mine],
                style_of(method),
            )
        )
    return Panel(title, "removed, %", "held-out accuracy, %", curves, whole, "all data")


def difference_panel(title: str, rows: Sequence[SummaryRow]) -> Panel:
    """Draw the paired difference to the baseline; methods that collapse leave the frame."""
    curves = []
    for method in _methods(rows):
        mine = [row for row in _of(rows, method) if not math.isnan(row.against_baseline)]
        if method == STRATIFIED or not mine:
            continue
        curves.append(
            Curve(
                method,
                [100 * row.fraction for row in mine],
                [100 * row.against_baseline for row in mine],
                [100 * row.against_low for row in mine],
                [100 * row.against_high for row in mine],
                style_of(method),
            )
        )
    return Panel(
        title, "removed, %", "difference, points", curves, 0.0, "class-stratified random", y_limits=(-8.0, 5.0)
    )


def accuracy_table(rows: Sequence[SummaryRow], title: str = "Equal epochs") -> list[str]:
    """Write accuracies as a Markdown table, methods down and fractions across."""
    fractions = sorted({row.fraction for row in rows if row.method != FULL})
    found = {(row.method, row.fraction): row for row in rows}
    lines = [f"| {title}, accuracy % | " + " | ".join(f"{100 * f:g} % removed" for f in fractions) + " |"]
    lines.append("|---|" + "---|" * len(fractions))
    for row in rows:
        if row.method == FULL:
            lines.append(f"| all data | {_with_interval(row)} |" + " |" * (len(fractions) - 1))
    for method in _methods(rows):
        cells = [_with_interval(found[method, f]) if (method, f) in found else "" for f in fractions]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return lines


def certificate_table(rows: Sequence[SummaryRow]) -> list[str]:
    """Write how many times the head moves less than after a random removal."""
    fractions = sorted({row.fraction for row in rows if row.method != FULL})
    found = {(row.method, row.fraction): row for row in rows}
    lines = ["| change of the head, times below random | " + " | ".join(f"{100 * f:g} %" for f in fractions) + " |"]
    lines.append("|---|" + "---|" * len(fractions))
    for method in _methods(rows):
        cells = [f"{found[method, f].below_random:.2g}" if (method, f) in found else "" for f in fractions]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return lines


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


def _with_interval(row: SummaryRow) -> str:
    half = 50 * (row.high - row.low)
    return f"{100 * row.accuracy:.1f}" if math.isnan(half) else f"{100 * row.accuracy:.1f} ± {half:.1f}"


def _methods(rows: Sequence[SummaryRow]) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows if row.method != FULL))


def _of(rows: Sequence[SummaryRow], method: str) -> list[SummaryRow]:
    return sorted((row for row in rows if row.method == method), key=lambda row: row.fraction)
