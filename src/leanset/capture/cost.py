"""Estimate the time for training, testing and capturing, from a few steps on this machine."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from leanset.capture.network import Network
from leanset.training import ImageBatches, fabric_for, quality, torch_threads, train

_LONG_ENOUGH = 1.0  # seconds of steps that are timed
_FEWEST, _MOST = 3, 50  # of these steps
_SHOWN = 512  # examples that are only shown, to time that
_GRADIENT_COST = 2.0  # time of one per-example gradient, relative to one example in a training step; measured
_NO_RATE = 1e-9  # steps that cannot diverge take as long


@dataclass(frozen=True)
class ExampleSeconds:
    """Measured seconds for one example.

    Attributes
    ----------
    trained : in a step of the training, with its augmentation and its optimiser
    shown : to the network as it is used
    tested : the same, for all copies of a held-out image
    """

    trained: float
    shown: float
    tested: float


def example_seconds(network: Network) -> ExampleSeconds:
    """Time a few steps of a network's own training, and of showing it images, on this machine."""
    images, recipe, fabric = network.images, network.settings.recipe, fabric_for(network.settings.device)
    size = min(recipe.batch_size, len(images))
    harmless = replace(recipe, epochs=1, lr=_NO_RATE, muon_lr=_NO_RATE if recipe.muon_lr else 0.0, batch_size=size)
    model, data = copy.deepcopy(network.model), ImageBatches(images, network.settings.scale)
    few = ImageBatches(images.take(np.arange(min(len(images), _SHOWN))), data.scale)

    def step(number: int) -> float:
        places = np.resize(np.arange(len(images)), number * size)
        return _seconds(lambda: train(model, data, harmless, fabric, places=places)) / number

    def shown(copies: str) -> float:
        return _seconds(lambda: quality(model, few, fabric.device, copies=copies)) / len(few)

    step(1)  # the first one also sets up what the others use
    number = min(_MOST, max(_FEWEST, round(_LONG_ENOUGH / step(1))))
    with torch_threads():
        shown("none")
        return ExampleSeconds(step(number) / size, shown("none"), shown(recipe.copies))


def network_seconds(network: Network, *, gradients: bool = False) -> list[tuple[str, float]]:
    """Return the estimated seconds for training and capturing, from a few timed steps."""
    images, settings, each = network.images, network.settings, example_seconds(network)
    recipe = settings.recipe
    total = len(images) + (0 if images.held_out is None else len(images.held_out))
    stages = [("capturing the head", total * each.shown)]
    if gradients:
        stages.append(("gradient of every example", _GRADIENT_COST * settings.runs * len(images) * each.trained))
    if settings.checkpoint is None:
        training = settings.runs * recipe.epochs * len(images) * each.trained / settings.devices
        stages.insert(0, (f"training {settings.model}, {settings.runs} × {recipe.epochs} epochs", training))
    return stages


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
