"""Beyond the paper: wrong labels. What each method keeps of them, and the accuracy on correct test labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset.data import Images
from leanset.evaluate import Job, Study, SummaryRow, accuracy_table, loss_table, summarise
from leanset.judge import FULL, LEANSET, STRATIFIED, as_dicts, fraction_table, mean_interval
from leanset.paper.experiment import Experiment, jobs_with_full
from leanset.paper.findings import Findings, verdict_lines
from leanset.paper.scale import CPU, PUBLISHED, QUICK
from leanset.report import Bars, bars_figure
from leanset.select import Coverage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOUBTING = "leanset-suspects"  # leanset that is told that labels may be wrong


@dataclass(frozen=True)
class _Noisy:
    """The results with one set of wrong labels.

    Attributes
    ----------
    name : name of the labels
    wrong : share of wrong labels
    outcomes : rows of the trainings
    kept : share of wrong labels among the kept examples, a row for each selection
    """

    name: str
    wrong: float
    outcomes: list[dict[str, Any]]
    kept: list[dict[str, Any]]

    @property
    def rows(self) -> list[SummaryRow]:
        return summarise(self.outcomes, STRATIFIED)

    def mean_kept(self, method: str, fraction: float) -> float:
        rows = [row for row in self.kept if (row["method"], row["fraction"]) == (method, fraction)]
        return 100 * mean_interval([row["wrong_among_kept"] for row in rows]).mean

    def lines(self) -> list[str]:
        rows = self.rows
        cells = {
            (method, fraction): f"{self.mean_kept(method, fraction):.1f}"
            for method, fraction in dict.fromkeys((row["method"], row["fraction"]) for row in self.kept)
        }
        wrong = f"{100 * self.wrong:.1f} %"
        lines = [
            f"## {self.name}: {wrong} of the labels are wrong",
            "",
            *accuracy_table(rows),
            "",
            *loss_table(rows),
            "",
            *verdict_lines(rows),
        ]
        return [*lines, "", *fraction_table(f"wrong among the kept ({wrong} of all), %", cells), ""]


@dataclass(frozen=True, kw_only=True)
class NoiseSettings:
    """Settings of the experiment with wrong labels: the methods, and the shares of the examples to remove."""

    methods: tuple[str, ...]
    fractions: tuple[float, ...]

    def jobs(self, experiment: Experiment) -> list[Job]:
        """Return every method on the wrong labels, and training on all examples."""
        scorer = experiment.scale.scorer
        return [
            job for seed in experiment.seed_range for job in jobs_with_full(seed, scorer, self.methods, self.fractions)
        ]

    def studies(self, experiment: Experiment) -> list[Study]:
        """Return the studies that train them, one for each set of noisy labels."""
        _check(experiment)
        return [
            experiment.study(
                images=experiment.source.with_labels(labels).take(experiment.places),
                name=name,
                coverages={DOUBTING: Coverage(suspects=True)},
            )
            for name, labels in experiment.noisy_labels.items()
        ]

    def run(self, experiment: Experiment) -> Findings:
        """Run the experiment with each set of noisy labels."""
        studies = zip(experiment.noisy_labels, self.studies(experiment), strict=True)
        parts = [self._run_one(experiment, name, study) for name, study in studies]
        return Findings(
            title="Wrong labels",
            protocol=f"{experiment.scale.scorer}, trained on the wrong labels, chooses and is trained; {experiment.size}; "
            f"tested on correct labels. {DOUBTING} is told that labels may be wrong (`Coverage(suspects=True)`), leanset "
            "is not.",
            outcomes=[{"labels": part.name} | row for part in parts for row in part.outcomes],
            tables={
                "summary": [{"labels": part.name} | row for part in parts for row in as_dicts(part.rows)],
                "kept": [row for part in parts for row in part.kept],
            },
            figures={"kept": self._figure(parts)},
            lines=[line for part in parts for line in part.lines()],
        )

    def _run_one(self, experiment: Experiment, name: str, study: Study) -> _Noisy:
        jobs = self.jobs(experiment)
        outcomes = experiment.finished(study, jobs)
        wrong = study.setup.images.labels != experiment.images.labels
        kept = [
            {
                "labels": name,
                "method": job.method,
                "fraction": job.fraction,
                "seed": job.seed,
                "wrong_among_kept": float(wrong[study.kept(job)].mean()),
            }
            for job in jobs
            if job.method != FULL
        ]
        return _Noisy(name, float(wrong.mean()), outcomes, kept)

    def _figure(self, parts: Sequence[_Noisy]) -> "Figure":
        first = self.fractions[0]
        return bars_figure(
            f"Wrong labels that stay, {100 * first:g} % removed",
            "wrong labels among the kept, %",
            list(self.methods),
            [Bars(part.name, [part.mean_kept(method, first) for method in self.methods]) for part in parts],
            ours=(LEANSET, DOUBTING),
        )


SIZES = dict.fromkeys(
    (CPU, QUICK),
    NoiseSettings(methods=(STRATIFIED, "el2n", "aum", "ccs", "dual", LEANSET, DOUBTING), fractions=(0.4, 0.8)),
) | {
    PUBLISHED: NoiseSettings(
        methods=(STRATIFIED, "herding", "forgetting", "el2n", "aum", "ccs", "dual", LEANSET, DOUBTING),
        fractions=(0.2, 0.4, 0.6, 0.8),
    ),
}


def _check(experiment: Experiment) -> None:
    if not experiment.noisy_labels:
        raise InputError("`noisy_labels={}` must hold at least one set of labels for the experiment with wrong labels.")
    for name, labels in experiment.noisy_labels.items():
        _check_labels(name, labels, experiment.source)


def _check_labels(name: str, labels: Rows, source: Images) -> None:
    if labels.shape != source.labels.shape:
        raise InputError(
            f"`noisy_labels[{name!r}]` must have one label for each of the {len(source):,} training images; got "
            f"{len(labels):,}."
        )
    if not ((labels >= 0) & (labels < len(source.classes))).all():
        raise InputError(
            f"`noisy_labels[{name!r}]` must be whole numbers in 0..{len(source.classes) - 1}; got "
            f"{int(labels.min())}..{int(labels.max())}."
        )
