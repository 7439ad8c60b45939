from dataclasses import replace

import pytest
import torch
from torch import nn

from leanset.training.models import build_model
from leanset.training.optimizers import Muon, optimizers_for, orthogonalised, set_rates
from leanset.training.recipe import Recipe, preset
from tests.training.networks import tiny

RECIPE = Recipe(epochs=1, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.02)


def stepped(recipe, *, rate_share=1.0, steps=3):
    """Three steps with fixed gradients; returns the network and what its weights were."""
    model = tiny()
    before = {name: weights.detach().clone() for name, weights in model.named_parameters()}
    optimizers = optimizers_for(model, recipe)
    set_rates(optimizers, rate_share)
    for _ in range(steps):
        for weights in model.parameters():
            weights.grad = torch.ones_like(weights)
        for optimizer in optimizers:
            optimizer.step()
    return dict(model.named_parameters()), before


def plainly_stepped(weights, lr, weight_decay, momentum=0.9, steps=3):
    """The obvious twin: SGD with Nesterov momentum on gradients of one."""
    speed = torch.zeros_like(weights)
    for _ in range(steps):
        gradient = torch.ones_like(weights) + weight_decay * weights
        speed = momentum * speed + gradient
        weights = weights - lr * (gradient + momentum * speed)
    return weights


@pytest.mark.parametrize("factor", [1.0, 64.0])
def test_biases_of_normalisation_learn_faster_and_all_others_as_before(factor):
    after, before = stepped(replace(RECIPE, bias_lr_factor=factor), rate_share=0.5)
    for name, weights in after.items():
        times = factor if name == "bn.bias" else 1.0
        wanted = plainly_stepped(before[name], 0.05 * times, 0.02 / times)
        torch.testing.assert_close(weights.detach(), wanted)


def test_every_weight_that_learns_is_in_exactly_one_group():
    model = build_model("quick", 10)
    for recipe in (RECIPE, preset("quick"), replace(preset("quick"), muon_lr=0.2)):
        held = [id(w) for o in optimizers_for(model, recipe) for group in o.param_groups for w in group["params"]]
        assert sorted(held) == sorted(map(id, model.parameters()))


def test_weights_that_two_layers_share_are_held_once():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    [sgd] = optimizers_for(model, replace(RECIPE, bias_lr_factor=2.0))
    assert sum(len(group["params"]) for group in sgd.param_groups) == 3


def test_muon_has_the_filters_and_sgd_the_rest():
    model = build_model("quick", 10)
    sgd, muon = optimizers_for(model, replace(preset("quick"), muon_lr=0.2))
    assert {w.ndim for group in muon.param_groups for w in group["params"]} == {4}
    assert sum(len(group["params"]) for group in muon.param_groups) == 6  # not the whitening layer
    set_rates([sgd, muon], 0.5)
    assert muon.param_groups[0]["lr"] == 0.1
    assert sgd.param_groups[0]["lr"] == pytest.approx(preset("quick").top_rate / 2)


@pytest.mark.parametrize("shape", [(6, 20), (20, 6), (8, 8)])
def test_an_orthogonalised_matrix_keeps_its_singular_vectors(shape):
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    turned = left.T @ orthogonalised(matrix, rounds=5) @ right.T
    torch.testing.assert_close(turned, torch.diag(turned.diagonal()), atol=1e-4, rtol=0)
    well = values > 0.05 * values.norm()
    assert (turned.diagonal()[well] > 0.6).all()
    assert (turned.diagonal() < 1.3).all()


def test_muon_follows_its_definition():
    generator = torch.Generator().manual_seed(0)
    bank = nn.Parameter(torch.randn(4, 3, 3, 3, generator=generator))
    gradients = torch.randn(2, 4, 3, 3, 3, generator=generator)
    wanted, speed, muon = bank.detach().clone(), torch.zeros(4, 27), Muon([bank], lr=0.1, momentum=0.6)
    for gradient in gradients:
        bank.grad = gradient
        muon.step()
        speed = 0.6 * speed + gradient.flatten(1)
        direction = orthogonalised(gradient.flatten(1) + 0.6 * speed)
        wanted = wanted * (2 / wanted.norm()) - 0.1 * direction.view_as(wanted)
    torch.testing.assert_close(bank.detach(), wanted)
