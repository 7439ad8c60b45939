"""Figure 4: what accuracy a time of training buys, on all data and on less."""

import math
from collections.abc import Sequence

from leanset.evaluate.bench import LEANSET
from leanset.evaluate.job import EQUAL_EPOCHS, FULL, Job
from leanset.evaluate.results import Outcome, as_dicts, compared, summary
from leanset.evaluate.statistics import Interval
from leanset.paper.workshop import Findings, Workshop
from leanset.report import Curve, Panel, curves_figure

_PUBLISHED = (
    "The paper: 40 % of CIFAR-10 removed costs 1.3 points and halves the training time (ResNet-50, 200 epochs)."
)


def speed_jobs(workshop: Workshop) -> list[Job]:
    """Return trainings of several lengths, on everything and on leanset's sets."""
    scale = workshop.scale
    protocols = (EQUAL_EPOCHS, *(f"epochs={epochs}" for epochs in scale.speed_epochs))
    return [
        Job(seed, fraction, scale.scorer, protocol, method)
        for seed in workshop.seed_range
        for protocol in protocols
        for method, fraction in ((FULL, 0.0), *((LEANSET, fraction) for fraction in scale.speed_fractions))
    ]


def speed(workshop: Workshop) -> Findings:
    """Run the experiment."""
    scale = workshop.scale
    outcomes = workshop.finished(workshop.study(), speed_jobs(workshop))
    rows = summary(outcomes, FULL)
    curves = []
    for fraction in (0.0, *scale.speed_fractions):
        mine = sorted((row for row in rows if row.fraction == fraction), key=lambda row: row.seconds)
        curves.append(
            Curve(
                "all data" if fraction == 0 else f"{100 * fraction:g} % removed",
                [row.seconds for row in mine],
                [100 * row.accuracy for row in mine],
                [100 * row.low for row in mine],
                [100 * row.high for row in mine],
                "baseline" if fraction == 0 else "other",
            )
        )
    panel = Panel("Accuracy bought by training time", "seconds of one training", "held-out accuracy, %", curves)
    return Findings(
        title="Training time (figure 4 of the paper)",
        protocol=f"{scale.scorer} on {len(workshop.images):,} images and on leanset's sets, {scale.recipe.epochs} epochs and "
        f"{', '.join(map(str, scale.speed_epochs))}; {len(workshop.seed_range)} seeds. Seconds are wall-clock time of one "
        "training with testing, by default as many side by side as there are cores. Choosing the set is counted apart, without "
        "the network that it looks at, which is trained once for all sets.",
        tables={"trainings": outcomes, "summary": as_dicts(rows)},
        figures={"time": curves_figure([panel])},
        lines=[*_table(outcomes, scale.speed_fractions), "", _PUBLISHED],
        outcomes=outcomes,
    )


def _table(outcomes: Sequence[Outcome], fractions: Sequence[float]) -> list[str]:
    full = {row["seed"]: row for row in outcomes if row["method"] == FULL and row["protocol"] == EQUAL_EPOCHS}
    lines = [
        "| removed, equal epochs | accuracy against all data, points (95 % interval) | steps of training | time of training "
        "(least to most of the seeds) | once: choosing, s |",
        "|---|---|---|---|---|",
    ]
    for fraction in fractions:
        ours = {row["seed"]: row for row in outcomes if row["fraction"] == fraction and row["protocol"] == EQUAL_EPOCHS}
        steps, times = (
            [100 * ours[seed][what] / full[seed][what] for seed in sorted(ours)] for what in ("steps", "seconds")
        )
        choosing = sum(row["selection_seconds"] for row in ours.values()) / len(ours)
        lines.append(
            f"| {100 * fraction:g} % | {_points(compared(ours, full).difference)} | {steps[0]:.0f} % | "
            f"{sum(times) / len(times):.0f} % ({min(times):.0f} to {max(times):.0f}) | {choosing:.0f} |"
        )
    return lines


def _points(found: Interval) -> str:
    mean, low, high = (f"{100 * value:+.2f}" for value in (found.mean, found.low, found.high))
    return mean if math.isnan(found.low) else f"{mean} ({low} to {high})"
