"""What the jobs of a study share: the data, the network that methods look at, and how networks are trained."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from torch import nn

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset._rng import stream
from leanset._version import __version__
from leanset.capture import NetworkSettings
from leanset.data import Images
from leanset.evaluate.job import Job
from leanset.evaluate.protocol import EQUAL_EPOCHS, Protocol
from leanset.head import HeadStatistics
from leanset.judge import BALANCED, FULL, LEANSET, PAPER, SHORTER, drawn_aside, prune_options
from leanset.pruning import prune
from leanset.result import PruneResult
from leanset.scores import METHODS
from leanset.select import Coverage
from leanset.settings import Settings
from leanset.training import Recipe, build_model, check_precision, fabric_for, is_normalised, training_pflop

SELECTORS = (LEANSET, BALANCED, PAPER, *METHODS)
COMPARED = (*SELECTORS, SHORTER)
_SCORER_SEED = 1_000_000  # far from the seeds of jobs, so that no network trains on what it chose itself


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all trainings of a comparison share.

    Attributes
    ----------
    images : the data, with held-out images to test networks on
    scorer : network whose statistics and training dynamics the methods see
    scorer_recipe : how the scorer is trained
    recipe : how the compared networks are trained; networks without normalisation get a lower learning rate
    other_recipes : by name, how networks are trained that have a recipe of their own
    runs : trainings of the scorer over which scores are averaged
    coverages : by name of a method, another coverage for leanset, e.g. one for wrong labels
    random_draws : random removals to compare a selection's certificate with
    device : where all networks are trained
    """

    images: Images
    scorer: str
    scorer_recipe: Recipe
    recipe: Recipe
    other_recipes: Mapping[str, Recipe] = field(default_factory=dict)
    runs: int = 1
    random_draws: int = 3
    coverages: Mapping[str, Coverage] = field(default_factory=dict)
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.images.held_out is None:
            raise InputError(
                "`Setup(images=...)` must have held-out images, because networks are tested on them; got none."
            )

    def identity(self) -> dict[str, Any]:
        """Return what the jobs of a study have in common.

        Not the recipes of further networks (`recipes`), which may join later. Not the device, the threads and the
        precision of trainings: they change the last digits only, a long study may go on on another machine, and every outcome
        says which they were.
        """
        known = {
            "data": self.images.identity,
            "examples": len(self.images),
            "scorer": self.scorer,
            "scorer_recipe": _identity_of(self.scorer_recipe),
            "recipe": _identity_of(self.recipe),
            "runs": self.runs,
            "random_draws": self.random_draws,
            "leanset_version": __version__,
        }
        coverages = {name: asdict(coverage) for name, coverage in self.coverages.items()}
        return known | ({"coverages": coverages} if coverages else {})

    def recipes(self, jobs: Sequence[Job]) -> dict[str, dict[str, Any]]:
        """Return the recipe of each network of the jobs, as it is given."""
        return {job.model: _identity_of(self.other_recipes.get(job.model, self.recipe)) for job in jobs}

    def with_recipes(self, saved: Mapping[str, Mapping[str, Any]]) -> "Setup":
        """Return the same setup, with networks trained as is saved of a study."""
        return replace(self, other_recipes=dict(self.other_recipes) | {m: Recipe(**how) for m, how in saved.items()})

    def scorer_settings(self) -> NetworkSettings:
        """Return the settings of the network that methods look at."""
        recipe = self._recipe_for(self.scorer, self.scorer_recipe)
        return NetworkSettings(model=self.scorer, recipe=recipe, seed=_SCORER_SEED, runs=self.runs, device=self.device)

    def choosing_cost(self, model: str, protocol: str = EQUAL_EPOCHS) -> float:
        """Return what the network that methods look at costs, as a share of one training of a network on all examples.

        It is a ratio of arithmetic, so that it does not depend on the machine.
        """
        n = len(self.images)
        whole = self.network(Job(0, 0.0, model, Protocol(protocol).on_all, FULL), n)
        return self.runs * self.pflop(self.scorer_settings(), n) / self.pflop(whole, n)

    def pflop(self, settings: NetworkSettings, examples: int) -> float:
        """Return the arithmetic of one training of a network on so many of the images, in 10¹⁵ operations."""
        images = self.images
        return _pflop(settings.model, len(images.classes), (images.channels, *images.size), settings.recipe, examples)

    def network(self, job: Job, kept: int) -> NetworkSettings:
        """Return the settings of a job's network, which trains on `kept` examples."""
        recipe = self.recipe_of(job.model)
        n = len(self.images)
        decay = Protocol(job.protocol).weight_decay(recipe.weight_decay, kept, n)
        part = replace(recipe, epochs=job.epochs(recipe.epochs, kept, n), weight_decay=decay)
        return NetworkSettings(model=job.model, recipe=part, seed=job.seed, device=self.device)

    def check(self, jobs: Sequence[Job]) -> None:
        """Raise if the device, or a network or protocol of the jobs, is unknown, or the precision not for this machine."""
        fabric = fabric_for(self.device)
        check_precision(self.scorer_recipe.precision, fabric)
        for model in dict.fromkeys(job.model for job in jobs):
            check_precision(self.recipe_of(model).precision, fabric)
        for job in jobs:
            Protocol(job.protocol)

    def select(self, statistics: HeadStatistics, job: Job, threads: int | None) -> PruneResult:
        """Let the job's method choose. Classes keep their shares, except with uniform random and the paper's method."""
        return prune(statistics, settings=self.selection_settings(job, threads))

    def selection_settings(self, job: Job, threads: int | None) -> Settings:
        """Return the settings with which the job's method chooses."""
        return Settings(
            fraction=job.fraction,
            seed=int(stream(job.seed, "selection").integers(2**31)),
            random_draws=self.random_draws,
            frontier=False,
            threads=threads,
            progress=False,
            **self._choices(job.method),
        )

    def _choices(self, method: str) -> dict[str, Any]:
        """Return the options of `prune` that a method of the comparison stands for."""
        coverage = self.coverages.get(method)
        return prune_options(method) if coverage is None else {"coverage": coverage}

    def recipe_of(self, model: str) -> Recipe:
        """Return how a compared network is trained."""
        return self._recipe_for(model, self.other_recipes.get(model, self.recipe))

    def _recipe_for(self, model: str, recipe: Recipe) -> Recipe:
        return recipe if is_normalised(self._built(model)) else recipe.unnormalised()

    def _built(self, model: str) -> nn.Module:
        return _built(model, len(self.images.classes), (self.images.channels, *self.images.size))


def _built(model: str, classes: int, shape: tuple[int, ...]) -> nn.Module:
    return build_model(model, classes, channels=shape[0], image_size=max(shape[1:]))


@cache
def _pflop(model: str, classes: int, shape: tuple[int, ...], recipe: Recipe, examples: int) -> float:
    return training_pflop(_built(model, classes, shape), shape, recipe, examples)


def _identity_of(recipe: Recipe) -> dict[str, Any]:
    return replace(recipe, precision="default").to_dict()


def stratified_places(labels: Rows, per_class: int, seed: int = 0) -> Rows:
    """Draw `per_class` examples of each class and return their places in ascending order.

    Examples
    --------
    >>> labels = np.array([0, 1, 0, 1, 0, 1])
    >>> np.bincount(labels[stratified_places(labels, 2)]).tolist()
    [2, 2]
    """
    rng, chosen = stream(seed, "subset"), []
    for c in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == c)
        if len(members) < per_class:
            raise InputError(f"`per_class={per_class}` is too large: class {c} has {len(members):,} examples.")
        chosen.append(rng.permutation(members)[:per_class])
    return np.sort(np.concatenate(chosen))


def with_held_out(images: Images, held_out_share: float, seed: int = 0) -> Images:
    """Return images with held-out ones: their own, or a share of each class that is set aside.

    Each class keeps at least one image and, if it has more than one, gives at least one away.

    Examples
    --------
    >>> two = Images(np.zeros((10, 3, 4, 4), np.uint8), np.arange(10) % 2, ("cat", "dog"))
    >>> split = with_held_out(two, 0.2)
    >>> len(split), np.bincount(split.held_out.labels).tolist()
    (8, [1, 1])
    """
    if images.held_out is not None:
        return images
    aside = drawn_aside(images.labels, held_out_share, seed)
    return replace(images.take(np.flatnonzero(~aside)), held_out=images.take(np.flatnonzero(aside)))
