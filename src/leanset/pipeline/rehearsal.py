"""What can be said of a run on images before its network is trained: whether the options fit, and what it will cost."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from leanset.data import Examples, Images
from leanset.head.locate import find_head
from leanset.pipeline.inputs import Inputs, inputs_from
from leanset.pipeline.network import NetworkSettings
from leanset.training.devices import channels_last, fabric_for, torch_threads
from leanset.training.dynamics import Dynamics

_STEPS = 3
_GRADIENT_COST = 2.0  # a gradient of its own for each example, against its part in a training step; measured


def rehearse(images: Images, settings: NetworkSettings) -> Examples:
    """Return examples with the labels and shapes that the network's statistics will have; the features are all zero."""
    width = find_head(settings.untrained(images))[1].in_features

    def blank(part: Images, held_out: Examples | None) -> Examples:
        features = np.broadcast_to(np.float32(0), (len(part), width))
        return Examples(features, part.labels, part.classes, held_out, part.rows if part.unreadable else None)

    return blank(images, None if images.held_out is None else blank(images.held_out, None))


def rehearsed_inputs(images: Images, settings: NetworkSettings, *, l2: float, standardize: bool) -> Inputs:
    """Return inputs that settings can be checked against before there is a network, with a blank record of its training."""
    inputs = inputs_from(rehearse(images, settings), l2=l2, standardize=standardize)
    if settings.checkpoint is not None:  # which tells nothing of its training
        return inputs
    blank = np.zeros((1, len(images)), dtype=np.float32)
    return replace(inputs, recorded=replace(inputs.recorded, dynamics=(Dynamics(blank > 0, blank, blank, blank),)))


def network_estimate(images: Images, settings: NetworkSettings, *, gradients: bool = False) -> list[tuple[str, float]]:
    """Time a few steps on this machine and return the seconds that training and capturing will take."""
    recipe, fabric = settings.recipe, fabric_for(settings.device)
    model = fabric.to_device(channels_last(settings.untrained(images)))
    size = min(recipe.batch_size, len(images))
    inputs = torch.zeros((size, images.channels, *images.size), device=fabric.device).contiguous(
        memory_format=torch.channels_last
    )
    labels = torch.zeros(size, dtype=torch.long, device=fabric.device)
    with torch_threads():
        step = _seconds(lambda: fabric.backward(cross_entropy(model(inputs), labels)))
        with torch.inference_mode():
            shown = _seconds(lambda: model(inputs))
    total = len(images) + (0 if images.held_out is None else len(images.held_out))
    stages = [("capturing the head", total / size * shown)]
    if gradients:
        stages.append(("gradient of every example", _GRADIENT_COST * settings.runs * len(images) / size * step))
    if settings.checkpoint is None:
        training = settings.runs * recipe.epochs * len(images) / size * step / settings.devices
        stages.insert(0, (f"training {settings.model}, {settings.runs} × {recipe.epochs} epochs", training))
    return stages


def _seconds(work: Callable[[], object]) -> float:
    work()
    began = time.perf_counter()
    for _ in range(_STEPS):
        work()
    return (time.perf_counter() - began) / _STEPS
