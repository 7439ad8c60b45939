"""Figure 1: held-out accuracy against the fraction removed, for every method."""

from collections.abc import Sequence
from dataclasses import dataclass

from leanset.evaluate import (
    EQUAL_EPOCHS,
    EQUAL_STEPS,
    Job,
    Study,
    SummaryRow,
    accuracy_panel,
    accuracy_table,
    certificate_table,
    difference_panel,
    loss_table,
    summarise,
)
from leanset.judge import BALANCED, FULL, LEANSET, PAPER, STRATIFIED, UNIFORM, as_dicts
from leanset.paper.experiment import Experiment, jobs_with_full
from leanset.paper.findings import Findings, verdict_lines
from leanset.paper.scale import CPU, PUBLISHED, QUICK
from leanset.report import curves_figure

_IN_THE_PAPER = (UNIFORM, "herding", "forgetting", "grand", "el2n", "influence", PAPER)  # its figure 1
_MODERN = ("ccs", "dual")


@dataclass(frozen=True, kw_only=True)
class PruningSettings:
    """Settings of the pruning curves.

    Attributes
    ----------
    methods, fractions : what is trained for equal epochs
    step_methods, step_fractions : what is trained for equal steps too
    """

    methods: tuple[str, ...] = (STRATIFIED, *_IN_THE_PAPER, *_MODERN, BALANCED, LEANSET)
    fractions: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 0.9)
    step_methods: tuple[str, ...]
    step_fractions: tuple[float, ...]

    def jobs(self, experiment: Experiment) -> list[Job]:
        """Return every method at every fraction and seed, and training on all examples."""
        scorer, jobs = experiment.scale.scorer, []
        for seed in experiment.seed_range:
            jobs += jobs_with_full(seed, scorer, self.methods, self.fractions)
            jobs += [
                Job(seed, f, scorer, EQUAL_STEPS, method) for method in self.step_methods for f in self.step_fractions
            ]
        return jobs

    def studies(self, experiment: Experiment) -> list[Study]:
        """Return the study that trains them."""
        return [experiment.study()]

    def run(self, experiment: Experiment) -> Findings:
        """Run the experiment."""
        [study] = self.studies(experiment)
        outcomes = experiment.finished(study, self.jobs(experiment))
        rows = summarise(outcomes, STRATIFIED)
        by_epochs = [row for row in rows if row.protocol == EQUAL_EPOCHS]
        panels = [
            accuracy_panel("Equal epochs", by_epochs),
            difference_panel("Against class-stratified random", by_epochs),
        ]
        return Findings(
            title="Pruning curves (figure 1 of the paper)",
            protocol=f"{experiment.scale.scorer} chooses and is trained; {experiment.size}; held-out accuracy with 95 % "
            "intervals. Classes keep their shares except with `random` and `paper`. The network that the methods look at "
            "is trained once, with a seed of its own.",
            outcomes=outcomes,
            tables={"summary": as_dicts(rows)},
            figures={"accuracy": curves_figure(panels)},
            lines=_lines(rows, by_epochs),
        )


SIZES = dict.fromkeys(
    (CPU, QUICK), PruningSettings(step_methods=(STRATIFIED, "ccs", "el2n", LEANSET), step_fractions=(0.8,))
) | {
    PUBLISHED: PruningSettings(
        step_methods=(STRATIFIED, *_IN_THE_PAPER, *_MODERN, LEANSET), step_fractions=(0.2, 0.4, 0.6, 0.8, 0.9)
    ),
}


def _lines(rows: Sequence[SummaryRow], by_epochs: Sequence[SummaryRow]) -> list[str]:
    lines = [*accuracy_table(by_epochs), "", *loss_table(by_epochs), "", *certificate_table(by_epochs), ""]
    by_steps = [row for row in rows if row.protocol == EQUAL_STEPS]
    if by_steps:
        lines += [*accuracy_table(by_steps, "Equal steps"), ""]
    return [*lines, *_against_the_best(by_epochs), "", *verdict_lines(rows)]


def _against_the_best(rows: Sequence[SummaryRow]) -> list[str]:
    """Set leanset beside the best other method at each fraction."""
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
