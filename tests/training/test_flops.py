from dataclasses import replace

import pytest
import torch
from torch import nn

from leanset.training import preset
from leanset.training.flops import step_flops, training_pflop
from leanset.training.models import build_model
from leanset.training.recipe import Recipe
from tests.training.networks import tiny


def test_operations_of_a_small_network_are_those_counted_by_hand():
    conv, head = 2 * 6 * 8 * 8 * 3 * 9, 2 * 6 * 3
    assert step_flops(tiny(), (3, 8, 8)) == 2 * conv + 3 * head  # no gradient for the image


def test_a_frozen_first_layer_costs_its_forward_pass_only():
    model = tiny()
    for weights in (*model.conv.parameters(), *model.bn.parameters()):
        weights.requires_grad_(False)
    assert step_flops(model, (3, 8, 8)) == 2 * 6 * 8 * 8 * 3 * 9 + 2 * 2 * 6 * 3


def test_groups_and_strides_are_counted():
    model = nn.Conv2d(4, 8, 3, stride=2, groups=2)
    model = nn.Sequential(model, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
    assert step_flops(model, (4, 7, 7)) == 2 * (2 * 8 * 3 * 3 * (4 // 2) * 9) + 3 * (2 * 8 * 2)


def half_width_by_hand(classes):
    """Multiplications of `quick` for one image of 32 pixels: whitening, then six convolutions, then the head."""
    maps = [
        31 * 31 * 24 * 12,
        31 * 31 * 32 * 24 * 9,
        15 * 15 * 32 * 32 * 9,
        15 * 15 * 128 * 32 * 9,
        7 * 7 * 128 * 128 * 9,
        7 * 7 * 128 * 128 * 9,
        3 * 3 * 128 * 128 * 9,
    ]
    return maps, 128 * classes


def test_a_quick_training_costs_what_its_layers_cost_while_their_gradients_are_needed():
    recipe = replace(preset("quick"), epochs=10, whitening_bias=0.3)
    (whitening, first, *others), head = half_width_by_hand(10)
    frozen = 2 * (whitening + 2 * first + 3 * sum(others) + 3 * head)
    learning = frozen + 2 * first  # the bias of the first layer needs the gradient of its output
    model = build_model("quick", 10)
    assert training_pflop(model, (3, 32, 32), recipe, 50_000) == pytest.approx(
        50_000 * (3 * learning + 7 * frozen) / 1e15, rel=1e-12
    )


def test_counting_changes_nothing():
    model = build_model("quick", 10).train()
    model.whitening.learns_bias = False
    before = {name: value.clone() for name, value in model.state_dict().items()}
    training_pflop(model, (3, 32, 32), Recipe(epochs=2, lr=0.1, whitening_bias=1.0), 10)
    assert model.training
    assert not model.whitening.learns_bias
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
