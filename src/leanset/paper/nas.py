"""Table 1: an architecture search on a few images of each class, compared with a search on the whole set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leanset.evaluate import Job, Outcome, Study
from leanset.judge import FULL, LEANSET, UNIFORM, as_dicts, markdown_table, mean_interval
from leanset.paper.designs import sampled_designs
from leanset.paper.experiment import Experiment
from leanset.paper.findings import Findings
from leanset.paper.scale import CPU, PUBLISHED, QUICK
from leanset.paper.search_rows import SearchRow, search_rows
from leanset.report import scatter_figure
from leanset.training import PRESETS, ConvNetDesign, Recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The paper's learning rate: every network of the search space can be trained with it.
_SHORT = PRESETS["fast"].with_changes(epochs=10, lr=0.01, weight_decay=5e-4, batch_size=64)
_IN_THE_PAPER = (
    "The paper, 720 networks on 2 % of CIFAR-10: 85.7 % against 85.9 % for the best of the whole set, 3.7 % of the time, "
    "top-10 correlation 0.94."
)
_HEADER = (
    "images chosen by",
    "chosen network on all data, %",
    "best network, %",
    "top-10 correlation",
    "correlation, all",
    "training",
    "storage",
)


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Settings of the architecture search.

    Attributes
    ----------
    designs : number of ConvNets; all if None
    multiply_adds, map_entries : leave out ConvNets with more multiplications or activations for one image; none if None
    per_class : images of each class in the proxy set
    methods : methods that choose the proxy set
    recipe : how all ConvNets are trained, but for its epochs
    epochs, whole_epochs : lengths of training on the proxy set and on the whole set
    seeds : draws of each proxy set, and trainings on each draw
    whole_seeds : trainings on the whole set, at most `seeds`; they cost most, and their noise is the same for all methods
    """

    designs: int | None
    multiply_adds: int | None
    map_entries: int | None
    per_class: int = 100
    methods: tuple[str, ...] = (UNIFORM, "herding", "forgetting", LEANSET)
    recipe: Recipe
    epochs: int
    whole_epochs: int
    seeds: int = 1
    whole_seeds: int = 1

    def jobs(self, experiment: Experiment) -> list[Job]:
        """Return every design on the proxy set of every method, and on the whole set."""
        images = experiment.images
        designs = sampled_designs(
            self.designs,
            most_multiply_adds=self.multiply_adds,
            most_map_entries=self.map_entries,
            channels=images.channels,
            image_size=max(images.size),
        )
        removed = round(1 - self.proxy_images(experiment) / len(images), 9)
        proxy, whole = f"epochs={self.epochs}", f"epochs={self.whole_epochs}"
        jobs = []
        for seed in range(self._draws(experiment)):
            for design in designs:
                if seed < self.whole_seeds:
                    jobs.append(Job(seed, 0.0, design.name, whole, FULL))
                jobs += [Job(seed, removed, design.name, proxy, method) for method in self.methods]
        return jobs

    def proxy_images(self, experiment: Experiment) -> int:
        """Return the size of the proxy set."""
        return self.per_class * len(experiment.images.classes)

    def studies(self, experiment: Experiment) -> list[Study]:
        """Return the study that trains them."""
        return [experiment.study(recipe=self.recipe, name="search")]

    def run(self, experiment: Experiment) -> Findings:
        """Run the experiment."""
        [study] = self.studies(experiment)
        outcomes = experiment.finished(study, self.jobs(experiment), divergence_is_chance=True)
        proxy = {method: _draws(outcomes, method) for method in self.methods}
        whole = _means(outcomes, FULL)
        rows = search_rows(
            proxy,
            whole,
            proxy_images=self.proxy_images(experiment),
            whole_images=len(experiment.images),
            proxy_epochs=self.epochs,
            whole_epochs=self.whole_epochs,
        )
        return Findings(
            title="Architecture search on a proxy set (table 1 of the paper)",
            protocol=self._protocol(experiment, list(whole)),
            outcomes=outcomes,
            tables={"search": as_dicts(rows)},
            figures={"search": _figure(proxy, whole)},
            lines=[*_table(rows), "", _IN_THE_PAPER],
        )

    def _protocol(self, experiment: Experiment, designs: Sequence[str]) -> str:
        return (
            f"{len(designs)} ConvNets of the 720{self._limits(designs)}, {self.epochs} epochs on {self.per_class} images of "
            f"each class (`random`: on average), {self.whole_epochs} epochs on all {len(experiment.images):,}; learning rate "
            f"{self.recipe.lr:g}, {experiment.scale.scorer} chooses. {self._repeats(experiment)} Intervals: bootstrap over the "
            "networks. Training: images seen in all epochs, as a share of a search on all; choosing and testing come on top."
        )

    def _repeats(self, experiment: Experiment) -> str:
        draws = self._draws(experiment)
        whole = min(draws, self.whole_seeds)
        if draws == 1:
            return "One draw of each proxy set."
        return (
            f"{draws} draws of each proxy set, each rated as a search of its own (figures are means over them); "
            f"{whole} training{'s' * (whole > 1)} on the whole set."
        )

    def _draws(self, experiment: Experiment) -> int:
        return self.seeds if experiment.seeds is None else experiment.seeds

    def _limits(self, designs: Sequence[str]) -> str:
        """Say which networks were left out because they cost too much."""
        limits = {"multiply-adds": self.multiply_adds, "activations": self.map_entries}
        named = [f"{limit:,} {what}" for what, limit in limits.items() if limit is not None]
        if not named:
            return ""
        widest = max(ConvNetDesign.named(design).width for design in designs)
        most = " and ".join(named)
        return f" (balanced over all choices among those of at most {most} an image; none is wider than {widest})"


_AFFORDABLE = SearchSettings(
    designs=12, multiply_adds=15_000_000, map_entries=90_000, recipe=_SHORT, epochs=8, whole_epochs=2
)
SIZES = {
    CPU: _AFFORDABLE,
    QUICK: replace(_AFFORDABLE, designs=72, seeds=2),
    PUBLISHED: SearchSettings(
        designs=None, multiply_adds=None, map_entries=None, recipe=PRESETS["published"], epochs=100, whole_epochs=100
    ),
}


def _draws(outcomes: Sequence[Outcome], method: str) -> list[dict[str, float]]:
    """Return the accuracy by design, for each draw of a method's proxy set."""
    rows = [row for row in outcomes if row["method"] == method]
    return [
        {row["model"]: row["accuracy"] for row in rows if row["seed"] == seed}
        for seed in sorted({row["seed"] for row in rows})
    ]


def _means(outcomes: Sequence[Outcome], method: str) -> dict[str, float]:
    """Return the mean accuracy over the seeds, by design."""
    found: dict[str, list[float]] = {}
    for row in outcomes:
        if row["method"] == method:
            found.setdefault(row["model"], []).append(row["accuracy"])
    return {design: mean_interval(values).mean for design, values in found.items()}


def _figure(proxy: Mapping[str, Sequence[Mapping[str, float]]], whole: Mapping[str, float]) -> "Figure":
    points = {
        method: (
            [100 * accuracy[name] for accuracy in draws for name in whole],
            [100 * whole[name] for _ in draws for name in whole],
        )
        for method, draws in proxy.items()
    }
    return scatter_figure(
        "Each network, on the proxy and on the whole set",
        "accuracy after the proxy set, %",
        "after all data, %",
        points,
    )


def _table(rows: Sequence[SearchRow]) -> list[str]:
    return markdown_table(_HEADER, map(_cells, rows))


def _cells(row: SearchRow) -> list[str]:
    return [
        row.method,
        f"{100 * row.accuracy_of_chosen:.2f}",
        f"{100 * row.best_accuracy:.2f}",
        _with_interval(row.top_correlation, row.top_interval),
        _with_interval(row.correlation, row.interval),
        f"{100 * (row.training_share or 0):.1f} %",
        f"{100 * (row.storage_share or 0):.1f} %",
    ]


def _with_interval(value: float, interval: tuple[float, float]) -> str:
    return f"{value:.2f} ({interval[0]:.2f} to {interval[1]:.2f})"
