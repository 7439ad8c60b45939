from dataclasses import replace

import numpy as np
import pytest

from leanset import InputError
from leanset.data import Images
from leanset.evaluate.job import Job
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.setup import Setup, stratified_places, with_held_out
from leanset.training import build_model, step_flops
from tests.evaluate.setups import RECIPE, tiny_setup
from tests.training.networks import striped_images


def uneven_images(counts=(1, 2, 9, 40)):
    """Images whose first pixel is their number."""
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    pixels = np.zeros((len(labels), 1, 4, 4), np.uint8)
    pixels[:, 0, 0, 0] = np.arange(len(labels))
    return Images(pixels, labels, tuple("abcd"[: len(counts)]))


def numbers(images):
    return images.pixels[np.arange(len(images))][:, 0, 0, 0].tolist()


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.99])
def test_held_out_images_are_others_and_a_share_of_each_class(share):
    images = uneven_images()
    split = with_held_out(images, share)
    assert sorted(numbers(split) + numbers(split.held_out)) == list(range(len(images)))
    for part in (split, split.held_out):
        np.testing.assert_array_equal(part.labels, images.labels[numbers(part)])
        np.testing.assert_array_equal(part.rows, numbers(part))
    kept, aside = (np.bincount(part.labels, minlength=4) for part in (split, split.held_out))
    size = np.bincount(images.labels)
    assert (kept >= 1).all()  # no class is lost to the test
    assert (aside[size > 1] >= 1).all()
    ordinary = (np.round(share * size) >= 1) & (np.round(share * size) < size)
    np.testing.assert_array_equal(aside[ordinary], np.round(share * size)[ordinary])


def test_the_split_follows_from_the_seed_and_is_part_of_the_identity():
    images = uneven_images()
    first, same, other = (with_held_out(images, 0.4, seed) for seed in (0, 0, 1))
    assert numbers(first) == numbers(same) != numbers(other)
    assert first.identity == same.identity
    assert len({images.identity, first.identity, other.identity, with_held_out(images, 0.5).identity}) == 4


def test_own_held_out_images_are_kept_and_no_share_is_looked_at():
    images = striped_images(12, held_out=6)
    assert with_held_out(images, 7.0) is images


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, float("nan")])
def test_a_share_outside_0_to_1_is_refused(share):
    with pytest.raises(InputError, match=f"{share}"):
        with_held_out(uneven_images(), share)


def test_stratified_places_are_so_many_of_each_class_ascending_and_distinct():
    labels = np.random.default_rng(1).integers(0, 3, 60)
    places = stratified_places(labels, 7)
    np.testing.assert_array_equal(np.bincount(labels[places]), [7, 7, 7])
    assert (np.diff(places) > 0).all()
    np.testing.assert_array_equal(places, stratified_places(labels, 7))
    assert places.tolist() != stratified_places(labels, 7, seed=1).tolist()
    with pytest.raises(InputError, match=f"class {np.bincount(labels).argmin()} has {np.bincount(labels).min()} "):
        stratified_places(labels, int(np.bincount(labels).min()) + 1)


def test_a_setup_needs_held_out_images():
    with pytest.raises(InputError, match="held-out"):
        Setup(images=uneven_images(), scorer="lenet", scorer_recipe=RECIPE, recipe=RECIPE)


def test_the_identity_changes_with_whatever_finished_jobs_depend_on():
    setup = tiny_setup()
    others = [
        tiny_setup(striped_images(48, held_out=24, seed=1)),
        tiny_setup(scorer="conv4"),
        tiny_setup(recipe=RECIPE.with_changes(lr=0.01)),
        tiny_setup(scorer_recipe=RECIPE.with_changes(epochs=2)),
        tiny_setup(runs=2),
        tiny_setup(random_draws=9),
    ]
    assert tiny_setup().identity() == setup.identity()
    fast = RECIPE.with_changes(precision="bfloat16")  # outcomes say which it was
    assert tiny_setup(recipe=fast, scorer_recipe=fast).identity() == setup.identity()
    assert all(other.identity() != setup.identity() for other in others)


def test_the_network_of_a_job_has_its_seed_its_epochs_and_a_rate_it_can_bear():
    setup = tiny_setup(recipe=RECIPE.with_changes(epochs=4, lr=0.4))
    for model, normalised in (("lenet", False), ("conv4", True)):
        made = setup.network(Job(5, 0.5, model, EQUAL_STEPS, "ccs"), 24)
        assert (made.model, made.seed, made.device) == (model, 5, "cpu")
        expected = setup.recipe if normalised else setup.recipe.unnormalised()
        assert made.recipe == expected.with_changes(epochs=8)
    assert setup.network(Job(5, 0.5, "lenet", EQUAL_EPOCHS, "ccs"), 24).recipe.epochs == 4


def test_a_total_decay_weighs_as_much_beside_the_sum_of_the_losses_as_on_all_examples():
    setup = tiny_setup(recipe=RECIPE.with_changes(weight_decay=1e-3))
    for length in (EQUAL_EPOCHS, EQUAL_STEPS, "epochs=3"):
        usual, total = (
            setup.network(Job(0, 0.75, "conv4", protocol, "ccs"), 12).recipe
            for protocol in (length, f"{length}+total-decay")
        )
        assert total.weight_decay * 12 == pytest.approx(1e-3 * 48)
        assert total.with_changes(weight_decay=1e-3) == usual


def test_choosing_costs_what_its_arithmetic_is_of_a_training():
    setup = tiny_setup(recipe=replace(RECIPE, epochs=4), scorer_recipe=replace(RECIPE, epochs=1), runs=2)
    assert setup.choosing_cost("lenet") == pytest.approx(0.5)
    assert setup.choosing_cost("lenet", "epochs=8") == pytest.approx(0.25)
    assert setup.choosing_cost("lenet", EQUAL_STEPS) == pytest.approx(0.5)
    flops = {
        name: step_flops(build_model(name, 3, channels=3, image_size=16), (3, 16, 16)) for name in ("lenet", "conv4")
    }
    assert setup.choosing_cost("conv4") == pytest.approx(0.5 * flops["lenet"] / flops["conv4"])


def test_unknown_networks_protocols_and_devices_are_named():
    setup = tiny_setup()
    setup.check([Job(0, 0.5, "lenet", EQUAL_EPOCHS, "ccs")])
    with pytest.raises(InputError, match="'lenett'"):
        setup.check([Job(0, 0.5, "lenett", EQUAL_EPOCHS, "ccs")])
    with pytest.raises(InputError, match="'equal'"):
        setup.check([Job(0, 0.5, "lenet", "equal", "ccs")])
    with pytest.raises(InputError, match="'tpu'"):
        tiny_setup(device="tpu").check([Job(0, 0.5, "lenet", EQUAL_EPOCHS, "ccs")])
