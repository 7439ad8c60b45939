"""Figure 4: accuracy against training time, on all examples and on fewer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leanset.evaluate import EQUAL_EPOCHS, Job, Outcome, Study, SummaryRow, compared, summarise
from leanset.judge import FULL, LEANSET, Interval, as_dicts, markdown_table
from leanset.paper.experiment import Experiment, jobs_with_full
from leanset.paper.findings import Findings
from leanset.paper.scale import CPU, PUBLISHED, QUICK
from leanset.report import Curve, Panel, curves_figure

_IN_THE_PAPER = (
    "The paper: 40 % of CIFAR-10 removed costs 1.3 points and halves the training time (ResNet-50, 200 epochs)."
)
_HEADER = (
    "removed, equal epochs",
    "accuracy against all data, points (95 % interval)",
    "steps of training",
    "time of training (least to most of the seeds)",
    "once: choosing, s",
)


@dataclass(frozen=True, kw_only=True)
class SpeedSettings:
    """Settings of the comparison of training times.

    Attributes
    ----------
    epochs : lengths of training, beside the one of the recipe
    fractions : shares of the examples that leanset removes
    """

    epochs: tuple[int, ...]
    fractions: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)

    def jobs(self, experiment: Experiment) -> list[Job]:
        """Return trainings of several lengths, on all examples and on the sets of leanset."""
        return [
            job
            for seed in experiment.seed_range
            for protocol in (EQUAL_EPOCHS, *(f"epochs={epochs}" for epochs in self.epochs))
            for job in jobs_with_full(seed, experiment.scale.scorer, (LEANSET,), self.fractions, protocol)
        ]

    def studies(self, experiment: Experiment) -> list[Study]:
        """Return the study that trains them."""
        return [experiment.study()]

    def run(self, experiment: Experiment) -> Findings:
        """Run the experiment."""
        scale = experiment.scale
        [study] = self.studies(experiment)
        outcomes = experiment.finished(study, self.jobs(experiment))
        rows = summarise(outcomes, FULL)
        curves = [_curve(rows, fraction) for fraction in (0.0, *self.fractions)]
        panel = Panel("Accuracy against training time", "seconds of one training", "held-out accuracy, %", curves)
        return Findings(
            title="Training time (figure 4 of the paper)",
            protocol=f"{scale.scorer} on {len(experiment.images):,} images and on leanset's sets, {scale.recipe.epochs} epochs "
            f"and {', '.join(map(str, self.epochs))}; {len(experiment.seed_range)} seeds. Seconds are the wall-clock time of "
            "one training with its test; by default, one training per core runs at the same time. The time to choose a set "
            "is given separately. It does not include the network that the choice is based on, which is trained once for "
            "all sets.",
            outcomes=outcomes,
            tables={"summary": as_dicts(rows)},
            figures={"time": curves_figure([panel])},
            lines=[*_table(outcomes, self.fractions), "", _IN_THE_PAPER],
        )


SIZES = {
    CPU: SpeedSettings(epochs=(3, 5)),
    QUICK: SpeedSettings(epochs=(3, 6, 17)),
    PUBLISHED: SpeedSettings(epochs=(25, 50, 100)),
}


def _curve(rows: Sequence[SummaryRow], fraction: float) -> Curve:
    mine = sorted((row for row in rows if row.fraction == fraction), key=lambda row: row.seconds)
    mean, low, high = ([100 * getattr(row, column) for row in mine] for column in ("accuracy", "low", "high"))
    name = f"{100 * fraction:g} % removed" if fraction else "all data"
    return Curve(name, [row.seconds for row in mine], mean, low, high, "other" if fraction else "baseline")


def _table(outcomes: Sequence[Outcome], fractions: Sequence[float]) -> list[str]:
    rows = [row for row in outcomes if row["protocol"] == EQUAL_EPOCHS]
    full = {row["seed"]: row for row in rows if row["method"] == FULL}
    return markdown_table(
        _HEADER, [_cells({row["seed"]: row for row in rows if row["fraction"] == f}, full, f) for f in fractions]
    )


def _cells(ours: dict[int, Outcome], full: dict[int, Outcome], fraction: float) -> list[str]:
    steps, times = (
        [100 * ours[seed][what] / full[seed][what] for seed in sorted(ours)] for what in ("steps", "seconds")
    )
    choosing = sum(row["selection_seconds"] for row in ours.values()) / len(ours)
    return [
        f"{100 * fraction:g} %",
        _points(compared(ours, full).difference),
        f"{steps[0]:.0f} %",
        f"{sum(times) / len(times):.0f} % ({min(times):.0f} to {max(times):.0f})",
        f"{choosing:.0f}",
    ]


def _points(found: Interval) -> str:
    mean, low, high = (f"{100 * value:+.2f}" for value in (found.mean, found.low, found.high))
    return mean if math.isnan(found.low) else f"{mean} ({low} to {high})"
