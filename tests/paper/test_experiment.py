from dataclasses import replace

import numpy as np
import pytest

from leanset import InputError
from leanset.evaluate import Study
from leanset.paper import run_experiment
from tests.paper.tiny import NOISY, TINY_SETTINGS, tiny_experiment


@pytest.fixture
def experiment(tmp_path):
    return tiny_experiment(tmp_path)


def test_a_class_with_fewer_images_than_the_scale_asks_for_sets_the_size(experiment):
    source = experiment.source.take(
        np.sort(np.concatenate([np.flatnonzero(experiment.source.labels == c)[: 5 + c] for c in range(3)]))
    )
    small = replace(experiment, source=source, scale=replace(experiment.scale, per_class=1000))
    assert np.bincount(small.images.labels).tolist() == [5, 5, 5]
    assert (np.diff(small.places) > 0).all()


def test_a_network_that_the_recipe_of_a_scale_does_not_suit_is_trained_with_its_own(experiment):
    own = replace(experiment.scale.recipe, epochs=7)
    study = replace(experiment, scale=replace(experiment.scale, other_recipes={"conv4": own})).study()
    assert study.setup.recipe_of("conv4").epochs == 7
    assert study.setup.recipe_of("lenet").epochs == experiment.scale.recipe.epochs


@pytest.mark.parametrize("option", ["seeds", "workers"])
def test_no_seeds_and_no_workers_are_refused(experiment, option):
    with pytest.raises(InputError, match=f"`{option}=0` must be at least 1"):
        replace(experiment, **{option: 0})


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({}, r"`noisy_labels=\{\}` must hold at least one set of labels"),
        (
            {"good": NOISY, "short": NOISY[:-1]},
            r"'short'\]` must have one label for each of the 75 training images; got 74",
        ),
        ({"good": NOISY, "high": NOISY + 1}, r"'high'\]` must be whole numbers in 0\.\.2; got 1\.\.3"),
    ],
)
def test_labels_that_do_not_fit_are_refused_before_any_training(experiment, monkeypatch, labels, message):
    monkeypatch.setattr(Study, "run", None)
    with pytest.raises(InputError, match=message):
        run_experiment("noise", replace(experiment, noisy_labels=labels), TINY_SETTINGS["noise"])
