from dataclasses import replace

import numpy as np
import pytest
import torch

from leanset import InputError
from leanset.training.recipe import PRESETS, Recipe, preset


def test_the_published_recipe_is_the_papers():
    published = preset("published")
    assert (published.epochs, published.batch_size, published.lr, published.momentum) == (200, 128, 0.01, 0.9)
    assert (published.weight_decay, published.decay, published.crop, published.flip) == (5e-4, "cosine", 4, True)


@pytest.mark.parametrize("recipe", PRESETS.values(), ids=list(PRESETS))
def test_the_rate_rises_to_its_top_and_falls_to_its_end(recipe):
    rates = [recipe.rate_at(step, 1000) for step in range(1, 1001)]
    top = rates.index(max(rates))
    assert rates[top] == pytest.approx(recipe.top_rate, rel=0.01)
    assert rates[-1] == pytest.approx(recipe.lr_end * recipe.top_rate, abs=1e-12)
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epochs": 0}, "epochs=0"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"lr": -1.0}, "lr=-1.0"),
        ({"lr": float("nan")}, "lr=nan"),
        ({"weight_decay": 0.0}, "weight_decay=0.0"),
        ({"decay": "steps"}, "'cosine' or 'linear'"),
        ({"momentum": 1.0}, "momentum=1.0"),
        ({"crop": -1}, "crop=-1"),
        ({"lr_end": 1.5}, r"lr_end=1.5.* must be in \[0, 1\]"),
        ({"bias_lr_factor": 0.0}, "bias_lr_factor=0.0.* must be positive"),
        ({"muon_lr": -0.1}, "muon_lr=-0.1"),
        ({"lookahead": 1.0}, "lookahead=1.0"),
        ({"padding": "white"}, "'black' or 'reflect'"),
        ({"test_copies": "turned"}, "'none' or 'mirrored' or 'mirrored-shifted'"),
    ],
)
def test_a_wrong_option_is_named(change, said):
    with pytest.raises(InputError, match=said):
        Recipe(**({"epochs": 1, "lr": 0.1} | change))


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(
        InputError, match="`preset='slow'` is unknown; choose from published, fast, quick, quick-narrow"
    ):
        preset("slow")


def test_the_quick_rate_is_a_triangle():
    recipe = Recipe(epochs=1, lr=2.0, warmup=0.25, decay="linear", lr_start=0.2, lr_end=0.1)
    rates = [recipe.rate_at(step, 100) for step in range(101)]
    np.testing.assert_allclose(rates, np.interp(np.arange(101), [0, 25, 100], [0.4, 2.0, 0.2]), rtol=1e-12)


@pytest.mark.parametrize("change", [{"batch_size": 256}, {"momentum": 0.6}, {"batch_size": 2048, "momentum": 0.0}])
def test_a_decoupled_rate_moves_the_weights_as_far_for_each_example_whatever_batch_and_momentum(change):
    def way(recipe):
        """How far one gradient of one moves one weight, over all steps that follow, for each example of its batch."""
        weight = torch.zeros(1, requires_grad=True)
        sgd = torch.optim.SGD([weight], lr=recipe.top_rate, momentum=recipe.momentum, nesterov=recipe.momentum > 0)
        for step in range(300):
            weight.grad = torch.full((1,), float(step == 0))
            sgd.step()
        return -weight.item() / recipe.batch_size

    quick = preset("quick")
    assert way(quick) == pytest.approx(quick.lr / 1024)
    assert way(replace(quick, **change)) == pytest.approx(quick.lr / 1024)


def test_a_network_without_normalisation_gets_a_low_rate_that_is_not_scaled():
    recipe = preset("quick", normalised=False)
    assert (recipe.top_rate, recipe.lr, recipe.decoupled) == (0.02, 0.02, False)


def test_mirrored_copies_are_for_images_that_may_be_mirrored():
    assert preset("quick").copies == "mirrored"
    assert replace(preset("quick"), flip=False).copies == "none"


def test_folders_of_recipes_made_before_the_later_options_stay_theirs():
    assert set(preset("fast").to_dict()) == {
        *("epochs", "lr", "batch_size", "warmup", "decay", "momentum", "nesterov"),
        *("weight_decay", "label_smoothing", "crop", "flip"),
    }
    assert Recipe(**preset("quick").to_dict()) == preset("quick")
