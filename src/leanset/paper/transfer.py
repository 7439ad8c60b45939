"""Figure 3: one network chooses the examples, and other networks are trained on them."""

from dataclasses import dataclass

from leanset.evaluate import Job, Study, accuracy_panel, accuracy_table, loss_table, parts_of, summarise
from leanset.judge import LEANSET, STRATIFIED, as_dicts
from leanset.paper.experiment import Experiment, jobs_with_full
from leanset.paper.findings import Findings, verdict_lines
from leanset.paper.scale import CPU, PUBLISHED, QUICK
from leanset.report import curves_figure


@dataclass(frozen=True, kw_only=True)
class TransferSettings:
    """Settings of the transfer to other networks.

    Attributes
    ----------
    scorer : network that the methods look at
    models : networks that are trained
    methods, fractions : what they are trained on
    """

    scorer: str
    models: tuple[str, ...]
    methods: tuple[str, ...]
    fractions: tuple[float, ...]

    def jobs(self, experiment: Experiment) -> list[Job]:
        """Return every network on the sets of every method, and on all examples."""
        return [
            job
            for seed in experiment.seed_range
            for model in self.models
            for job in jobs_with_full(seed, model, self.methods, self.fractions)
        ]

    def studies(self, experiment: Experiment) -> list[Study]:
        """Return the study that trains them."""
        return [experiment.study(self.scorer)]

    def run(self, experiment: Experiment) -> Findings:
        """Run the experiment."""
        [study] = self.studies(experiment)
        outcomes = experiment.finished(study, self.jobs(experiment))
        rows = summarise(outcomes, STRATIFIED)
        parts = parts_of(rows)
        tables = [
            line
            for title, part in parts
            for table in (accuracy_table, loss_table)
            for line in (*table(part, title), "")
        ]
        return Findings(
            title="Transfer to other networks (figure 3 of the paper)",
            protocol=f"{self.scorer} chooses, {' and '.join(self.models)} are trained; {experiment.size}; held-out accuracy "
            "with 95 % intervals.",
            outcomes=outcomes,
            tables={"summary": as_dicts(rows)},
            figures={"accuracy": curves_figure([accuracy_panel(title, part) for title, part in parts])},
            lines=[*tables, *verdict_lines(rows)],
        )


SIZES = {
    CPU: TransferSettings(
        scorer="conv4",
        models=("lenet", "resnet8"),
        methods=(STRATIFIED, "ccs", LEANSET),
        fractions=(0.4, 0.8),
    ),
    QUICK: TransferSettings(
        scorer="quick",
        models=("resnet8", "resnet20"),
        methods=(STRATIFIED, "dual", LEANSET),
        fractions=(0.4, 0.8),
    ),
    PUBLISHED: TransferSettings(
        scorer="se-resnet18",
        models=("resnet18", "resnet50"),
        methods=(STRATIFIED, "ccs", "el2n", LEANSET),
        fractions=(0.2, 0.4, 0.6, 0.8),
    ),
}
