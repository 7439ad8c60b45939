"""Estimate the time for training and capturing, from a few steps on this machine."""

import time
from collections.abc import Callable

import torch
from torch.nn.functional import cross_entropy

from leanset.capture.network import Network
from leanset.training import channels_last, fabric_for, torch_threads

_STEPS = 3
_GRADIENT_COST = 2.0  # time of one per-example gradient, relative to one example in a training step; measured


def network_seconds(network: Network, *, gradients: bool = False) -> list[tuple[str, float]]:
    """Time a few steps on this machine and return the estimated seconds for training and capturing."""
    images, settings = network.images, network.settings
    recipe, fabric = settings.recipe, fabric_for(settings.device)
    model = fabric.to_device(channels_last(network.model))
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
