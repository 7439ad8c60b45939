"""From images to head statistics: train a network or take a checkpoint, show it all examples, keep what is needed.

Inside the run folder, `network/` holds the trained network(s) and `network/head/` the statistics; each is kept as soon
as it is finished, so that another budget or method in the same folder starts from there.
"""

import hashlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from leanset._arrays import Rows, Vector
from leanset._errors import InputError
from leanset._progress import Reporter, part_of
from leanset._rng import stream
from leanset.data import Images, array_digest
from leanset.head.capture import capture_head, weights_of
from leanset.head.locate import find_head
from leanset.head.statistics import ABOUT, HeadStatistics, store_in
from leanset.runs import NETWORK
from leanset.scores import Method
from leanset.training.batches import ImageBatches, PixelScale
from leanset.training.checkpoint import load_weights, read_checkpoint
from leanset.training.devices import fabric_for
from leanset.training.dynamics import Dynamics
from leanset.training.folder import EARLY, HEAD, NetworkFolder
from leanset.training.gradients import gradient_norms
from leanset.training.loop import Quality, Training, quality, train
from leanset.training.models import build_model
from leanset.training.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """Which network, and how it comes to its weights.

    Attributes
    ----------
    model, stem : of the zoo
    recipe : how it is trained; its weight decay is the head's l2 even with a checkpoint
    seed : of the weights, the order and the augmentation
    runs : trainings with different seeds, for scores that average over them
    checkpoint : weights to take instead of training
    scale : how pixels become numbers; measured on the data if None
    device, devices : where
    """

    model: str
    recipe: Recipe
    seed: int = 0
    stem: str = "auto"
    runs: int = 1
    checkpoint: Path | None = None
    scale: PixelScale | None = None
    device: str = "auto"
    devices: int = 1

    def __post_init__(self) -> None:
        if self.runs < 1 or self.devices < 1:
            raise InputError(f"`runs={self.runs}` and `devices={self.devices}` must be at least 1.")
        if self.checkpoint is not None and self.runs > 1:
            raise InputError("a checkpoint is one network; several runs would have to be trained. Drop one of the two.")

    def untrained(self, images: Images, nth: int = 0) -> nn.Module:
        """Build the network of the nth run with its random weights."""
        with torch.random.fork_rng():
            torch.manual_seed(int(stream(self.seed + nth, "weights").integers(2**31)))
            return build_model(
                self.model,
                len(images.classes),
                channels=images.channels,
                image_size=max(images.size),
                stem=self.stem,
            )

    def as_the_checkpoint_says(
        self, classes: tuple[str, ...], weight_decay: float | None
    ) -> tuple["NetworkSettings", bool]:
        """Take the pixel scale and the weight decay that leanset wrote into a checkpoint, unless they were given.

        Returns
        -------
        The settings, and whether the weight decay had to be assumed.
        """
        if self.checkpoint is None:
            return self, False
        about = read_checkpoint(self.checkpoint)
        known = about.get("classes")
        if isinstance(known, list) and tuple(known) != classes:
            raise InputError(
                f"{self.checkpoint}: was trained on the classes {', '.join(map(str, known[:5]))}...; the data have "
                f"{', '.join(classes[:5])}..., in this order."
            )
        scale, decay = self.scale, about.get("weight_decay") if weight_decay is None else weight_decay
        if scale is None and "mean" in about and "deviation" in about:
            scale = PixelScale(tuple(about["mean"]), tuple(about["deviation"]))
        return replace(self, scale=scale, recipe=self.recipe.with_changes(weight_decay=decay)), decay is None

    def check_can_serve(self, method: Method | None) -> bool:
        """Raise if a method needs what a checkpoint cannot tell; return whether it needs the network's gradients."""
        needs = () if method is None else method.all_needs()
        if self.checkpoint is not None and "dynamics" in needs:
            assert method is not None
            raise InputError(
                f"`--method {method.name}` needs the dynamics of a training, which a checkpoint does not tell; leave "
                "--checkpoint out to have the network trained."
            )
        return "gradient_norm" in needs


def network_statistics(
    images: Images,
    settings: NetworkSettings,
    *,
    gradients: bool = False,
    out: Path | None = None,
    retrain: bool = False,
    reporter: Reporter,
) -> HeadStatistics:
    """Return what leanset needs to know of a network on some images.

    Parameters
    ----------
    images : the data; held-out images become validation data
    settings : the network
    gradients : also measure the whole network's gradient of each example (GraNd)
    out : run folder; trained networks and statistics are kept in it, and taken from it if they are there
    retrain : replace a network with other settings that lies there
    reporter : told of progress
    """
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            made = _Making(images, settings, Path(folder) / NETWORK, retrain, reporter).statistics(gradients)
            return made.in_memory()
    return _Making(images, settings, out / NETWORK, retrain, reporter).statistics(gradients)


def trained_network(
    images: Images,
    settings: NetworkSettings,
    *,
    places: Rows | None = None,
    out: Path | None = None,
    retrain: bool = False,
    reporter: Reporter,
) -> tuple[Training, Quality | None]:
    """Train one network, on some of the images if `places` are given; return it and how it does on the held-out ones."""
    with tempfile.TemporaryDirectory() as folder:
        making = _Making(images, settings, out or Path(folder) / NETWORK, retrain, reporter, places)
        [training] = making.networks()
        with reporter.stage("Testing"):
            return training, making.held_out_quality(training.model)


class _Making:
    def __init__(
        self,
        images: Images,
        settings: NetworkSettings,
        path: Path,
        retrain: bool,
        reporter: Reporter,
        places: Rows | None = None,
    ) -> None:
        self.images, self.settings, self.reporter, self.places = images, settings, reporter, places
        self.data = ImageBatches(images, settings.scale)
        self.folder = NetworkFolder(path)
        self.fabric = fabric_for(settings.device, settings.devices)
        # Before other processes are launched, which would wait for one that has failed; and in none of them: until then
        # each takes itself for the first, and only the local rank tells.
        if self.fabric.local_rank == 0:
            for nth in range(settings.runs):
                self.folder.further(nth).open(self._identity(nth), replace=retrain)
        if settings.devices > 1:
            self.fabric.launch()

    def statistics(self, gradients: bool) -> HeadStatistics:
        """Train or load, capture, and measure gradients, each unless it is there."""
        trainings = self.networks()
        records = tuple(training.dynamics for training in trainings if training.dynamics is not None)
        store = self.folder.path / HEAD
        if not (store / ABOUT).is_file():
            self._captured(trainings[0].model, store, records).save(store)
        statistics = HeadStatistics.load(store)
        if len(statistics.dynamics) != len(records):  # captured when there were more or fewer runs
            statistics = replace(statistics, dynamics=records, gradient_norm=None)
            statistics.save(store)
        if gradients and statistics.gradient_norm is None:
            statistics = statistics.with_evidence(gradient_norm=self._gradient_norm())
            statistics.save(store)
        return statistics

    def networks(self) -> list[Training]:
        """Return the network of every run; processes that were only needed for training end here."""
        trainings = [self._network(nth) for nth in range(self.settings.runs)]
        if not self.fabric.is_global_zero:
            raise SystemExit(0)
        return trainings

    def _network(self, nth: int) -> Training:
        settings, folder = self.settings, self.folder.further(nth)
        model = settings.untrained(self.images, nth)
        if settings.checkpoint is not None:
            load_weights(model, settings.checkpoint)
            return Training(self.fabric.to_device(model), (), None)
        if folder.is_finished:
            dynamics, history = folder.load(model)
            return Training(self.fabric.to_device(model), history, dynamics)
        training = train(
            model,
            self.data,
            settings.recipe,
            self.fabric,
            seed=settings.seed + nth,
            places=self.places,
            folder=folder,
            reporter=self.reporter,
        )
        if self.fabric.is_global_zero:
            folder.finish(training.model, training.history, training.dynamics, self._about())
        return training

    def held_out_quality(self, model: nn.Module) -> Quality | None:
        """Return how a network does on the held-out images; None without such images."""
        if self.images.held_out is None:
            return None
        return quality(model, ImageBatches(self.images.held_out, self.data.scale), self.fabric.device)

    def _captured(self, model: nn.Module, store: Path, dynamics: tuple[Dynamics, ...]) -> HeadStatistics:
        images, held_out, device = self.images, self.images.held_out, self.fabric.device
        store_in(store)
        with self.reporter.stage("Capturing the head", units=len(images), unit="images") as advance:
            seen = capture_head(model, self.data, device, store=store, advance=advance)
        validation = None
        if held_out is not None:
            data = ImageBatches(held_out, self.data.scale)
            with self.reporter.stage("Capturing the held-out images", units=len(held_out), unit="images") as advance:
                other = capture_head(
                    model, data, device, store=store, prefix="val_", with_logits=False, advance=advance
                )
            validation = other.features, other.labels
        return HeadStatistics(
            features=seen.features,
            labels=seen.labels,
            classes=images.classes,
            logits=seen.logits,
            head=weights_of(find_head(model)[1]),
            weight_decay=self.settings.recipe.weight_decay,
            validation=validation,
            rows=images.rows if images.unreadable else None,
            dynamics=dynamics,
        )

    def _gradient_norm(self) -> Vector:
        """Average over the runs, each as it was early in its training, where the score tells examples apart."""
        norms, runs = np.zeros(len(self.images)), self.settings.runs
        with self.reporter.stage("Gradient of every example", units=runs * len(self.images), unit="images") as advance:
            for nth in range(runs):
                model = self.settings.untrained(self.images, nth)
                load_weights(model, self.settings.checkpoint or self.folder.further(nth).path / EARLY)
                self.fabric.to_device(model)
                norms += gradient_norms(model, self.data, self.fabric.device, advance=part_of(advance, nth, runs))
        return norms / runs

    def _identity(self, nth: int) -> dict[str, Any]:
        settings = self.settings
        trained: dict[str, Any] = {"recipe": settings.recipe.to_dict(), "seed": settings.seed + nth}
        if settings.checkpoint is not None:
            trained = {"checkpoint": _digest(settings.checkpoint)}
        subset = None if self.places is None else array_digest(self.places)
        return self._about() | trained | {"data": self.images.identity, "subset": subset}

    def _about(self) -> dict[str, Any]:
        scale = self.data.scale
        return {
            "network": self.settings.model,
            "stem": self.settings.stem,
            "classes": list(self.images.classes),
            "mean": list(scale.mean),
            "deviation": list(scale.deviation),
            "weight_decay": self.settings.recipe.weight_decay,
        }


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None
