"""Compute head statistics of images: train a network or load a checkpoint, and run it over all examples.

Inside the run folder, `network/` contains the trained network(s) and `network/head/` the statistics. Each is saved as
soon as it is finished, so that a run with another budget or method in the same folder can reuse it.
"""

import hashlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from leanset._arrays import Rows, Vector
from leanset._errors import InputError
from leanset._progress import Reporter, part_of
from leanset.capture.locate import find_head
from leanset.capture.recording import capture_head, weights_of
from leanset.capture.settings import NetworkSettings, network_settings
from leanset.data import Classes, Dynamics, Images, array_digest
from leanset.head import HeadStatistics, is_stored, store_in
from leanset.inputs import NETWORK_PENALTY
from leanset.plan import Outline
from leanset.runs import NETWORK
from leanset.select import Strategy
from leanset.settings import Settings
from leanset.training import (
    EARLY,
    HEAD,
    ImageBatches,
    NetworkFolder,
    Quality,
    Training,
    fabric_for,
    gradient_norms,
    load_weights,
    quality,
    train,
)


class Network:
    """A network for some images: built once, trained or loaded, and run over the images.

    Parameters
    ----------
    images : the data; held-out images become validation data
    settings : which network, and how it gets its weights
    model : the network of the first run, if it is already built
    """

    def __init__(self, images: Images, settings: NetworkSettings, model: nn.Module | None = None) -> None:
        self.images, self.settings = images, settings
        self.model = settings.untrained(images) if model is None else model

    @classmethod
    def for_images(cls, images: Images, options: Settings) -> "Network":
        """Build the network from a user's options."""
        by_decay = options.l2 is None and options.C is None
        settings, model = network_settings(images, options, seed=int(options.seed), decay_matters=by_decay)
        return cls(images, settings, model)

    def outline(self) -> Outline:
        """Return the facts about the data that a plan needs, before the network is trained."""
        images = self.images
        width = find_head(self.model)[1].in_features
        return Outline(
            targets=Classes(images.labels, images.classes),
            width=width,
            total=float(len(images)),
            rows=images.rows,
            left_out=bool(images.unreadable),
            held_out=images.held_out is not None,
            dynamics=self.settings.checkpoint is None,
            l2=self.settings.recipe.weight_decay,
            penalty=NETWORK_PENALTY,
            standardize=False,
            in_memory=len(images) * width * np.dtype(np.float32).itemsize,
        )

    def check_can_serve(self, strategy: Strategy) -> bool:
        """Raise if a strategy needs training dynamics and there is a checkpoint; return whether it needs gradients."""
        if self.settings.checkpoint is not None and "dynamics" in strategy.needs:
            raise InputError(
                f"`method={strategy.method!r}` needs training dynamics, which a checkpoint does not contain; leave "
                "`checkpoint` out to train the network."
            )
        return "gradient_norm" in strategy.needs

    def statistics(
        self,
        *,
        gradients: bool = False,
        out: str | os.PathLike[str] | None = None,
        retrain: bool = False,
        reporter: Reporter,
    ) -> HeadStatistics:
        """Return the head statistics of the network.

        Parameters
        ----------
        gradients : also measure the gradient of the whole network for each example (GraNd)
        out : run folder in which trained networks and statistics are saved, and from which they are reused
        retrain : replace a network with other settings in that folder
        reporter : shows progress
        """
        if out is None:
            with tempfile.TemporaryDirectory() as folder:
                return _Making(self, Path(folder) / NETWORK, retrain, reporter).statistics(gradients).in_memory()
        return _Making(self, Path(out) / NETWORK, retrain, reporter).statistics(gradients)

    def trained(
        self,
        *,
        places: Rows | None = None,
        out: str | os.PathLike[str] | None = None,
        retrain: bool = False,
        reporter: Reporter,
    ) -> tuple[Training, Quality | None]:
        """Train the network, on the images at `places` if given; return it and its quality on the held-out images."""
        with tempfile.TemporaryDirectory() as folder:
            making = _Making(self, Path(folder) / NETWORK if out is None else Path(out), retrain, reporter, places)
            [training] = making.networks()
            with reporter.stage("Testing"):
                return training, making.held_out_quality(training.model)


def network_statistics(images: Images, settings: NetworkSettings, **options: Any) -> HeadStatistics:
    """Build a network and return its statistics on some images; the options are those of `Network.statistics`."""
    return Network(images, settings).statistics(**options)


def trained_network(images: Images, settings: NetworkSettings, **options: Any) -> tuple[Training, Quality | None]:
    """Build a network and train it; the options are those of `Network.trained`."""
    return Network(images, settings).trained(**options)


class _Making:
    """Trains a network and computes its statistics in a folder."""

    def __init__(
        self, network: Network, path: Path, retrain: bool, reporter: Reporter, places: Rows | None = None
    ) -> None:
        self.network, self.images, self.settings = network, network.images, network.settings
        self.reporter, self.places = reporter, places
        self.data = ImageBatches(self.images, self.settings.scale)
        self.folder = NetworkFolder(path)
        self.fabric = fabric_for(self.settings.device, self.settings.devices)
        # Open the folders before launching other processes, which would wait for a failed one, and only in the first
        # process. Before the launch only the local rank identifies it.
        if self.fabric.local_rank == 0:
            for nth in range(self.settings.runs):
                self.folder.further(nth).open(self._identity(nth), replace=retrain)
        if self.settings.devices > 1:
            self.fabric.launch()

    def statistics(self, gradients: bool) -> HeadStatistics:
        """Train or load, capture, and measure gradients; skip what is already there."""
        trainings = self.networks()
        records = tuple(training.dynamics for training in trainings if training.dynamics is not None)
        store = self.folder.path / HEAD
        if not is_stored(store):
            self._captured(trainings[0].model, store, records).save(store)
        statistics = HeadStatistics.load(store)
        if len(statistics.dynamics) != len(records):  # captured with a different number of runs
            statistics = replace(statistics, dynamics=records, gradient_norm=None)
            statistics.save(store)
        if gradients and statistics.gradient_norm is None:
            statistics = statistics.with_evidence(gradient_norm=self._gradient_norm(trainings))
            statistics.save(store)
        return statistics

    def networks(self) -> list[Training]:
        """Return the network of every run; processes needed only for training end here."""
        trainings = [self._trained(nth) for nth in range(self.settings.runs)]
        if not self.fabric.is_global_zero:
            raise SystemExit(0)
        return trainings

    def held_out_quality(self, model: nn.Module) -> Quality | None:
        """Return the quality of a network on the held-out images; None if there are none."""
        if self.images.held_out is None:
            return None
        data, copies = ImageBatches(self.images.held_out, self.data.scale), self.settings.recipe.copies
        return quality(model, data, self.fabric.device, copies=copies)

    def _trained(self, nth: int) -> Training:
        settings, folder = self.settings, self.folder.further(nth)
        model = self.network.model if nth == 0 else settings.untrained(self.images, nth)
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

    def _gradient_norm(self, trainings: list[Training]) -> Vector:
        """Average over the runs, each with its early weights, for which the score separates examples.

        The early weights are loaded into the trained networks, which are already captured and saved.
        """
        norms, runs = np.zeros(len(self.images)), self.settings.runs
        with self.reporter.stage("Gradient of every example", units=runs * len(self.images), unit="images") as advance:
            for nth, training in enumerate(trainings):
                load_weights(training.model, self.settings.checkpoint or self.folder.further(nth).path / EARLY)
                norms += gradient_norms(
                    training.model, self.data, self.fabric.device, advance=part_of(advance, nth, runs)
                )
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
