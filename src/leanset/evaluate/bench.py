"""What the jobs of a study have in common: the data, the network that methods look at, and how networks are trained."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset._rng import stream
from leanset._version import __version__
from leanset.data import Images
from leanset.evaluate.job import Job, checked_protocol, epochs_of
from leanset.head.statistics import HeadStatistics
from leanset.pipeline.coverage import Coverage
from leanset.pipeline.inputs import inputs_from
from leanset.pipeline.network import NetworkSettings
from leanset.pipeline.result import PruneResult
from leanset.pipeline.run import prune_inputs
from leanset.pipeline.settings import checked_settings
from leanset.scores import METHODS
from leanset.training.devices import fabric_for
from leanset.training.models import build_model, is_normalised
from leanset.training.recipe import Recipe

LEANSET, BALANCED, PAPER, UNIFORM = "leanset", "balanced", "paper", "random"  # balanced: leanset without coverage
STRATIFIED = "stratified-random"  # what every method is held against
SELECTORS = (LEANSET, BALANCED, PAPER, *METHODS)
_SCORER_SEED = 1_000_000  # far from the seeds of jobs: no network is compared on what it chose itself


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where methods are compared.

    Attributes
    ----------
    images : the data, with held-out images that networks are judged on
    scorer : model whose statistics and training dynamics methods see
    scorer_recipe : how it is trained
    recipe : how the compared networks are trained; those without normalisation get a rate they can bear
    runs : trainings of the scorer that scores are averaged over
    suspects : tell leanset that labels may be wrong
    random_draws : random removals that a selection's certificate is held against
    device : of all trainings
    """

    images: Images
    scorer: str
    scorer_recipe: Recipe
    recipe: Recipe
    runs: int = 1
    random_draws: int = 3
    suspects: bool = False
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.images.held_out is None:
            raise InputError("a comparison judges networks on held-out images, and this source has none.")

    def identity(self) -> dict[str, Any]:
        """Return what finished jobs depend on."""
        return {
            "data": self.images.identity,
            "examples": len(self.images),
            "scorer": self.scorer,
            "scorer_recipe": self.scorer_recipe.to_dict(),
            "recipe": self.recipe.to_dict(),
            "runs": self.runs,
            "random_draws": self.random_draws,
            "leanset_version": __version__,
        } | ({"suspects": True} if self.suspects else {})

    def scorer_settings(self) -> NetworkSettings:
        """Return the network that methods look at."""
        recipe = self._bearable(self.scorer, self.scorer_recipe)
        return NetworkSettings(model=self.scorer, recipe=recipe, seed=_SCORER_SEED, runs=self.runs, device=self.device)

    def network(self, job: Job, kept: int) -> NetworkSettings:
        """Return the network of a job that trains on `kept` examples."""
        recipe = self._bearable(job.model, self.recipe)
        epochs = epochs_of(job.protocol, recipe.epochs, kept, len(self.images))
        return NetworkSettings(
            model=job.model, recipe=replace(recipe, epochs=epochs), seed=job.seed, device=self.device
        )

    def check(self, jobs: Sequence[Job]) -> None:
        """Raise if the device, or a network or a protocol of some jobs, is unknown."""
        fabric_for(self.device)
        for model in dict.fromkeys(job.model for job in jobs):
            self._bearable(model, self.recipe)
        for job in jobs:
            checked_protocol(job.protocol)

    def select(self, statistics: HeadStatistics, job: Job, threads: int | None) -> PruneResult:
        """Let a job's method choose. Classes keep their share, except where the method is uniform or as published."""
        inputs = inputs_from(statistics)
        own = job.method in (LEANSET, BALANCED, PAPER)
        settings = checked_settings(
            inputs,
            fraction=job.fraction,
            method=None if own else job.method,
            formulation=PAPER if job.method == PAPER else "newton",
            coverage=self._coverage(job.method),
            class_balance="none" if job.method == UNIFORM else None,
            seed=int(stream(job.seed, "selection").integers(2**31)),
            random_draws=self.random_draws,
            frontier=False,
        )
        return prune_inputs(inputs, settings, threads=threads, progress=False)

    def _coverage(self, method: str) -> Coverage | str:
        if method == BALANCED:
            return "none"
        return Coverage(suspects=True) if method == LEANSET and self.suspects else "auto"

    def _bearable(self, model: str, recipe: Recipe) -> Recipe:
        built = build_model(
            model, len(self.images.classes), channels=self.images.channels, image_size=max(self.images.size)
        )
        return recipe if is_normalised(built) else recipe.unnormalised()


def stratified_places(labels: Rows, per_class: int, seed: int = 0) -> Rows:
    """Draw so many examples of each class; ascending places.

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
            raise InputError(f"class {c} has {len(members):,} examples; {per_class:,} of each class were asked for.")
        chosen.append(rng.permutation(members)[:per_class])
    return np.sort(np.concatenate(chosen))


def with_held_out(images: Images, share: float, seed: int = 0) -> Images:
    """Return images that have held-out ones: their own, or a share of each class set aside.

    At least one of a class is set aside and at least one stays; a class of one image stays.

    Examples
    --------
    >>> two = Images(np.zeros((10, 3, 4, 4), np.uint8), np.arange(10) % 2, ("cat", "dog"))
    >>> split = with_held_out(two, 0.2)
    >>> len(split), np.bincount(split.held_out.labels).tolist()
    (8, [1, 1])
    """
    if images.held_out is not None:
        return images
    if not 0 < share < 1:
        raise InputError(f"the share of held-out images, {share}, must lie in (0, 1).")
    rng, aside = stream(seed, "held out"), np.zeros(len(images), dtype=bool)
    for c in range(len(images.classes)):
        members = rng.permutation(np.flatnonzero(images.labels == c))
        aside[members[: min(max(1, round(share * len(members))), len(members) - 1)]] = True
    return replace(images.take(np.flatnonzero(~aside)), held_out=images.take(np.flatnonzero(aside)))
