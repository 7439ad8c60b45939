"""The network `quick` with its recipe, through training, capture and pruning."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import leanset
from leanset._progress import Silent
from leanset.capture import NetworkSettings, network_seconds, network_statistics, trained_network
from leanset.capture.network import Network
from leanset.data import Dynamics
from leanset.evaluate.job import Job
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.training import ImageBatches, NetworkFolder, build_model, fabric_for, preset, quality, train
from leanset.training.models import Whitening
from leanset.training.models.quick import QuickNet
from tests.evaluate.setups import tiny_setup
from tests.training.networks import striped_images
from tests.training.test_loop import _Interrupted, _StopsAfter, same_weights

QUICK = replace(preset("quick"), epochs=4, batch_size=16, crop=1)
RECIPES = {"sgd": QUICK, "muon": replace(QUICK, muon_lr=0.1)}


def built(seed=0):
    """A network of the same kind with fewer channels, which a test can train many times."""
    torch.manual_seed(seed)
    return QuickNet(3, 3, (4, 8, 8))


def run(images=None, *, model=None, recipe=QUICK, **options):
    return train(model or built(), ImageBatches(images or striped_images()), recipe, fabric_for("cpu"), **options)


def test_it_learns_what_can_be_learnt():
    images = striped_images(192)
    trained = run(images, model=build_model("quick", 3), recipe=replace(QUICK, epochs=8))
    data = ImageBatches(images.held_out, ImageBatches(images).scale)
    assert quality(trained.model, data, torch.device("cpu"), copies=QUICK.copies).accuracy > 0.8


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_the_same_seed_gives_the_same_network_and_another_seed_another(recipe):
    one, two, other = (run(recipe=recipe, seed=seed) for seed in (1, 1, 2))
    assert same_weights(one.model, two.model)
    assert not same_weights(one.model, other.model)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_an_interrupted_training_ends_as_if_nothing_had_happened(tmp_path, share, recipe):
    whole = run(seed=3, recipe=recipe)
    folder = NetworkFolder(tmp_path)
    with pytest.raises(_Interrupted):
        run(seed=3, recipe=recipe, folder=folder, reporter=_StopsAfter(share))
    resumed = run(seed=3, recipe=recipe, model=built(seed=0 if share < 0.5 else 99), folder=folder)
    assert same_weights(whole.model, resumed.model)
    assert whole.history == resumed.history
    for name in Dynamics.names():
        np.testing.assert_array_equal(getattr(whole.dynamics, name), getattr(resumed.dynamics, name))


def test_the_first_layer_is_set_by_the_examples_trained_on_and_never_learns():
    images, places = striped_images(), np.arange(0, 96, 3)
    model = run(images, places=places, recipe=replace(QUICK, epochs=2)).model
    data, wanted = ImageBatches(images), Whitening(3)
    wanted.fit(batch.inputs for batch in data.plain([places], torch.device("cpu")))
    assert torch.equal(model.whitening.weight, wanted.weight)


def test_the_bias_of_the_first_layer_learns_for_its_share_of_the_epochs():
    frozen = run(recipe=replace(QUICK, epochs=2, whitening_bias=0.0)).model
    assert not frozen.whitening.bias.any()
    learnt = run(recipe=replace(QUICK, epochs=2, whitening_bias=0.5)).model
    assert learnt.whitening.bias.any()
    assert not learnt.whitening.learns_bias


def test_weights_that_a_checkpoint_brings_keep_their_first_layer():
    first = run(recipe=replace(QUICK, epochs=1)).model
    other = built(seed=5)
    other.load_state_dict(first.state_dict())
    again = run(striped_images(seed=9), model=other, recipe=replace(QUICK, epochs=1)).model
    assert torch.equal(again.whitening.weight, first.whitening.weight)


def statistics(images, **options):
    settings = NetworkSettings(model="quick", recipe=replace(QUICK, epochs=2), device="cpu")
    return network_statistics(images, settings, reporter=Silent(), **options)


@pytest.mark.parametrize(("size", "classes"), [(16, 3), (64, 20)])
def test_its_features_feed_capture(size, classes):
    stats = statistics(striped_images(80, size=size, classes=classes, held_out=20))
    np.testing.assert_allclose(
        stats.features @ stats.head[:, :-1].T + stats.head[:, -1], stats.logits, rtol=1e-3, atol=1e-4
    )
    assert stats.features.shape == (80, 128)
    assert stats.weight_decay == QUICK.weight_decay
    assert stats.dynamics[0].epochs == 2


def test_methods_of_the_literature_find_their_evidence():
    stats = statistics(striped_images(80), gradients=True)
    for method in ("forgetting", "el2n", "aum", "grand"):
        result = leanset.prune(stats, fraction=0.4, method=method, frontier=False, random_draws=2)
        assert len(result.removed) == 32


def test_the_test_is_on_mirrored_copies_where_images_may_be_mirrored():
    images = striped_images()
    for recipe in (replace(QUICK, epochs=1), replace(QUICK, epochs=1, flip=False)):
        settings = NetworkSettings(model="quick", recipe=recipe, device="cpu")
        training, seen = trained_network(images, settings, reporter=Silent())
        data = ImageBatches(images.held_out, ImageBatches(images).scale)
        copies = "mirrored" if recipe.flip else "none"
        assert seen == quality(training.model, data, torch.device("cpu"), copies=copies)


@pytest.mark.parametrize(("protocol", "epochs"), [(EQUAL_EPOCHS, 2), (EQUAL_STEPS, 4)])
def test_a_study_gives_it_the_epochs_of_the_protocol(protocol, epochs):
    setup = tiny_setup(scorer="quick", scorer_recipe=QUICK, recipe=replace(QUICK, epochs=2))
    settings = setup.network(Job(0, 0.5, "quick", protocol, "random"), kept=24)
    assert settings.recipe == replace(QUICK, epochs=epochs)
    training, _ = trained_network(setup.images, settings, places=np.arange(24), reporter=Silent())
    assert training.dynamics.epochs == epochs


def test_its_time_can_be_estimated():
    network = Network(striped_images(), NetworkSettings(model="quick", recipe=QUICK, device="cpu"))
    assert all(seconds > 0 for _, seconds in network_seconds(network, gradients=True))
