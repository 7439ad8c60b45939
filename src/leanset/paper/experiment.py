"""What every experiment of the paper is given: data, scale and folders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset._progress import Reporter
from leanset.data import Images
from leanset.evaluate import EQUAL_EPOCHS, Job, Setup, Study, stratified_places
from leanset.judge import FULL
from leanset.paper.scale import Scale
from leanset.select import Coverage
from leanset.training import Recipe


@dataclass(frozen=True)
class Experiment:
    """Data, scale and folders of an experiment. Experiments with the same folders share their trainings.

    Attributes
    ----------
    source : all of the data
    scale : how large the experiment is
    out : folder for the results, which go to `out/<name of the experiment>/`
    work : folder of the finished trainings
    command : what the user typed, for the record
    reporter : receives the progress
    seeds : trainings of each kind; those of the scale if None
    workers : number of processes; one per core if None
    noisy_labels : wrong labels of all examples of the source, by name; only for the experiment with wrong labels
    """

    source: Images
    scale: Scale
    out: Path
    work: Path
    command: str
    reporter: Reporter
    seeds: int | None = None
    workers: int | None = None
    noisy_labels: Mapping[str, Rows] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in (("seeds", self.seeds), ("workers", self.workers)):
            if value is not None and value < 1:
                raise InputError(f"`{name}={value}` must be at least 1.")

    @cached_property
    def places(self) -> Rows:
        """The places of the examples that are used: a fixed draw of each class, or all."""
        if self.scale.per_class is None:
            return np.arange(len(self.source))
        smallest = int(np.bincount(self.source.labels).min())
        return stratified_places(self.source.labels, min(self.scale.per_class, smallest))

    @cached_property
    def images(self) -> Images:
        """The examples that are used."""
        return self.source if self.scale.per_class is None else self.source.take(self.places)

    @property
    def seed_range(self) -> range:
        """The seeds of repeated trainings."""
        return range(self.scale.seeds if self.seeds is None else self.seeds)

    @property
    def size(self) -> str:
        """The number of images, epochs and seeds, in words."""
        return f"{len(self.images):,} training images, {self.scale.recipe.epochs} epochs, {len(self.seed_range)} seeds"

    def study(
        self,
        scorer: str | None = None,
        images: Images | None = None,
        recipe: Recipe | None = None,
        name: str = "",
        coverages: Mapping[str, Coverage] | None = None,
    ) -> Study:
        """Return the study with this scorer, images and recipe.

        Parameters
        ----------
        scorer, recipe : those of the scale if None
        images : those of the experiment if None
        name : tells studies with the same scorer apart, if they differ in images or recipe
        coverages : by name of a method, another coverage for leanset
        """
        scorer = scorer or self.scale.scorer
        setup = Setup(
            images=images or self.images,
            scorer=scorer,
            scorer_recipe=self.scale.recipe,
            recipe=recipe or self.scale.recipe,
            other_recipes=self.scale.other_recipes,
            coverages=coverages or {},
        )
        return Study(setup, self.work / (f"{scorer}-{name}" if name else scorer))

    def finished(
        self, study: Study, jobs: Sequence[Job], *, divergence_is_chance: bool = False
    ) -> list[dict[str, Any]]:
        """Finish the jobs and return their rows."""
        study.run(jobs, workers=self.workers, reporter=self.reporter, divergence_is_chance=divergence_is_chance)
        return study.outcomes(jobs)


def jobs_with_full(
    seed: int, model: str, methods: Sequence[str], fractions: Sequence[float], protocol: str = EQUAL_EPOCHS
) -> list[Job]:
    """Return one training on all examples, and one for each method and fraction."""
    pruned = [Job(seed, fraction, model, protocol, method) for method in methods for fraction in fractions]
    return [Job(seed, 0.0, model, protocol, FULL), *pruned]
