"""How much arithmetic a training takes: the measure by which recipes on different machines are compared."""

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn

from leanset.training.models import whitening_layers
from leanset.training.outputs import as_used
from leanset.training.recipe import Recipe


def step_flops(model: nn.Module, shape: tuple[int, ...]) -> int:
    """Return the floating-point operations of convolutions and linear layers for one example in a training step.

    A multiplication and an addition count as two. The gradient of a layer's weights costs as much as its output, and so does
    the gradient of its inputs; both are counted only where they are needed. A first layer needs no gradient of its
    inputs, and a frozen layer none of its weights.

    Parameters
    ----------
    model : the network
    shape : of one input, e.g. (3, 32, 32)

    Examples
    --------
    >>> step_flops(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)), (4,))  # twice, then three times
    84
    """
    counted = 0

    def count(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        nonlocal counted
        assert isinstance(layer.weight, Tensor)
        each = 2 * output.numel() * math.prod(layer.weight.shape[1:])
        counted += each * (1 + layer.weight.requires_grad + inputs[0].requires_grad)

    hooks: list[Any] = [
        layer.register_forward_hook(count)
        for layer in model.modules()
        if isinstance(layer, nn.Conv1d | nn.Conv2d | nn.Conv3d | nn.Linear)
    ]
    device = next(model.parameters()).device
    try:
        with as_used(model), torch.enable_grad():
            model(torch.zeros((1, *shape), device=device))
    finally:
        for hook in hooks:
            hook.remove()
    return counted


def training_pflop(model: nn.Module, shape: tuple[int, ...], recipe: Recipe, examples: int) -> float:
    """Return the PFLOP (10¹⁵ operations) of a training, without the tests of the network.

    Parameters
    ----------
    model : the network
    shape : of one input, e.g. (3, 32, 32)
    recipe : how long it trains, and how long the bias of a `Whitening` layer does
    examples : how many it trains on
    """
    trial = copy.deepcopy(model)
    learning = sum(map(recipe.learns_whitening_bias, range(recipe.epochs)))
    flops = 0
    for learns, epochs in ((True, learning), (False, recipe.epochs - learning)):
        for layer in whitening_layers(trial):
            layer.learns_bias = learns
        flops += step_flops(trial, shape) * examples * epochs
    return flops / 1e15
