import dataclasses

import numpy as np
import pytest
import torch

import leanset
from leanset import InputError, RunFolderError
from leanset._progress import Silent
from leanset._threads import thread_count
from leanset.capture import Network, NetworkSettings, network_seconds, network_statistics, trained_network
from leanset.data.images import Unreadable
from leanset.inputs import inputs_from
from leanset.scores import METHODS
from leanset.select import strategy_named
from leanset.training import ImageBatches, Recipe, build_model
from tests.training.networks import striped_images

RECIPE = Recipe(epochs=3, lr=0.05, batch_size=32, crop=1)
SETTINGS = NetworkSettings(model="lenet", recipe=RECIPE, device="cpu")


def statistics(images=None, settings=SETTINGS, **options):
    return network_statistics(images or striped_images(), settings, reporter=Silent(), **options)


def test_statistics_are_those_of_the_trained_network(tmp_path):
    images = striped_images()
    stats = statistics(images, out=tmp_path)
    np.testing.assert_allclose(
        stats.features @ stats.head[:, :-1].T + stats.head[:, -1], stats.logits, rtol=1e-3, atol=1e-4
    )
    np.testing.assert_array_equal(stats.labels, images.labels)
    np.testing.assert_array_equal(stats.validation[1], images.held_out.labels)
    assert stats.weight_decay == RECIPE.weight_decay
    assert stats.dynamics[0].epochs == 3
    training, quality = trained_network(images, SETTINGS, reporter=Silent())
    np.testing.assert_allclose(training.model.fc.weight.detach().numpy(), stats.head[:, :-1], rtol=1e-5)
    logits = stats.validation[0] @ stats.head[:, :-1].T + stats.head[:, -1]
    assert quality.accuracy == pytest.approx((logits.argmax(1) == stats.validation[1]).mean())


def test_a_trained_network_is_taken_from_its_folder_and_with_other_settings_refused(tmp_path, monkeypatch):
    first = statistics(out=tmp_path)
    monkeypatch.setattr("leanset.capture.network.train", None)  # would fail if it were trained again
    again = statistics(out=tmp_path)
    np.testing.assert_array_equal(first.features, again.features)
    other = dataclasses.replace(SETTINGS, recipe=dataclasses.replace(RECIPE, lr=0.01))
    with pytest.raises(RunFolderError, match=r"recipe.*`retrain=True`"):
        statistics(settings=other, out=tmp_path)
    monkeypatch.undo()
    replaced = statistics(settings=other, out=tmp_path, retrain=True)
    assert not np.array_equal(replaced.features, first.features)


def test_pruning_twice_in_one_folder_keeps_the_network(tmp_path):
    stats = statistics(out=tmp_path)
    leanset.prune(stats, fraction=0.3, frontier=False, out=tmp_path)
    with pytest.raises(RunFolderError, match="budget"):
        leanset.prune(stats, fraction=0.4, frontier=False, out=tmp_path)
    with pytest.raises(InputError):
        leanset.prune(stats, fraction=0.4, method="grand", frontier=False, out=tmp_path, overwrite=True)
    leanset.prune(stats, fraction=0.4, frontier=False, out=tmp_path, overwrite=True)
    assert (tmp_path / "network" / "model.pt").is_file()
    assert len(leanset.load(tmp_path).removed) == round(0.4 * 96)


def test_a_failed_first_pruning_keeps_the_network_it_was_given(tmp_path):
    stats = statistics(out=tmp_path)
    with pytest.raises(InputError):
        leanset.prune(stats, fraction=0.4, method="grand", out=tmp_path)
    assert (tmp_path / "network" / "model.pt").is_file()
    assert len(leanset.prune(stats, fraction=0.4, frontier=False, out=tmp_path).removed) == round(0.4 * 96)


def test_several_runs_differ_and_are_all_recorded(tmp_path):
    stats = statistics(settings=dataclasses.replace(SETTINGS, runs=2), gradients=True, out=tmp_path)
    one, two = stats.dynamics
    assert not np.array_equal(one.margin, two.margin)
    alone = statistics(gradients=True)
    other = statistics(settings=dataclasses.replace(SETTINGS, seed=1), gradients=True)
    np.testing.assert_allclose(stats.gradient_norm, (alone.gradient_norm + other.gradient_norm) / 2, rtol=1e-4)


def test_the_number_of_runs_may_change_in_one_folder(tmp_path):
    one = statistics(out=tmp_path, gradients=True)
    before = np.array(one.gradient_norm)
    three = statistics(settings=dataclasses.replace(SETTINGS, runs=3), out=tmp_path, gradients=True)
    assert len(three.dynamics) == 3
    assert not np.allclose(three.gradient_norm, before)
    again = statistics(out=tmp_path, gradients=True)
    assert len(again.dynamics) == 1
    np.testing.assert_allclose(again.gradient_norm, before, rtol=1e-6)


def test_gradients_can_be_added_later(tmp_path):
    assert statistics(out=tmp_path).gradient_norm is None
    later = statistics(out=tmp_path, gradients=True)
    assert later.gradient_norm.shape == (96,)
    np.testing.assert_allclose(later.gradient_norm, statistics(gradients=True).gradient_norm, rtol=1e-5)


def test_a_checkpoint_replaces_the_training(tmp_path):
    trained = statistics(out=tmp_path / "one")
    settings = dataclasses.replace(SETTINGS, checkpoint=tmp_path / "one" / "network" / "model.pt")
    taken = statistics(settings=settings, out=tmp_path / "two")
    np.testing.assert_allclose(taken.features, trained.features, rtol=1e-4, atol=1e-5)
    assert taken.dynamics == ()
    other = dataclasses.replace(
        SETTINGS, checkpoint=settings.checkpoint, recipe=Recipe(epochs=1, lr=1.0, weight_decay=0.3)
    )
    told, assumed = other.as_the_checkpoint_says(striped_images().classes, None)
    assert not assumed
    assert told.recipe.weight_decay == RECIPE.weight_decay
    assert told.scale.mean == pytest.approx(ImageBatches(striped_images()).scale.mean)
    assert other.as_the_checkpoint_says(striped_images().classes, 0.2)[0].recipe.weight_decay == 0.2
    with pytest.raises(InputError, match="in this order"):
        other.as_the_checkpoint_says(("period 2", "period 1", "period 3"), None)
    torch.save({"fc.weight": torch.zeros(2, 2)}, tmp_path / "foreign.pt")
    with pytest.raises(InputError, match="does not fit"):
        statistics(settings=dataclasses.replace(SETTINGS, checkpoint=tmp_path / "foreign.pt"))
    with pytest.raises(InputError, match="`runs=2` needs several trainings"):
        dataclasses.replace(settings, runs=2)


def test_what_a_given_network_sees_does_not_depend_on_the_threads(tmp_path):
    statistics(out=tmp_path)
    settings = dataclasses.replace(SETTINGS, checkpoint=tmp_path / "network" / "model.pt")
    seen = []
    for threads in (1, 2, 3):
        with thread_count(threads):
            seen.append(statistics(settings=settings))
    for other in seen[1:]:
        np.testing.assert_array_equal(other.features, seen[0].features)
        np.testing.assert_array_equal(other.logits, seen[0].logits)


@pytest.mark.parametrize("name", METHODS)
def test_what_a_checkpoint_cannot_tell_is_said_before_anything_is_computed(tmp_path, name):
    network = Network(striped_images(), dataclasses.replace(SETTINGS, checkpoint=tmp_path / "any.pt"))
    strategy = strategy_named("newton", name)
    if "dynamics" in strategy.needs:
        with pytest.raises(InputError, match=f"`method='{name}'` needs training dynamics"):
            network.check_can_serve(strategy)
    else:
        assert network.check_can_serve(strategy) == ("gradient_norm" in METHODS[name]().all_needs())


def test_unreadable_images_keep_their_row_numbers(tmp_path):
    images = striped_images(60, held_out=0)
    keep = np.delete(np.arange(60), [5, 20])
    part = dataclasses.replace(
        images,
        pixels=images.pixels[keep],
        labels=images.labels[keep],
        rows=keep,
        unreadable=(Unreadable(5, "a.png", "broken"), Unreadable(20, "b.png", "broken")),
    )
    result = leanset.prune(statistics(part), fraction=0.5, frontier=False)
    assert sorted([*result.kept, *result.removed]) == keep.tolist()


def test_the_outline_before_training_is_that_of_the_statistics():
    images = striped_images()
    settings = leanset.Settings(fraction=0.5)
    before, after = Network(images, SETTINGS).outline(), inputs_from(statistics(images), settings).outline()
    assert dataclasses.replace(before, targets=None, rows=None) == dataclasses.replace(after, targets=None, rows=None)
    np.testing.assert_array_equal(before.rows, after.rows)
    np.testing.assert_array_equal(before.targets.values, after.targets.values)
    assert before.targets.names == after.targets.names
    stages = dict(network_seconds(Network(images, SETTINGS), gradients=True))
    assert "gradient of every example" in stages
    assert all(seconds > 0 for seconds in stages.values())
    assert any("3 epochs" in stage for stage in stages)


def test_a_network_is_built_once_for_a_run(monkeypatch, tmp_path):
    built = []

    def counted(name, *arguments, **options):
        built.append(name)
        return build_model(name, *arguments, **options)

    monkeypatch.setattr("leanset.capture.settings.build_model", counted)
    options = {"model": "lenet", "epochs": 1, "batch_size": 32, "device": "cpu", "frontier": False, "progress": False}
    leanset.prune(striped_images(), fraction=0.4, method="grand", **options, out=tmp_path / "run")
    assert built == ["lenet"]


def test_a_network_learns_real_images_and_its_head_is_pruned(cifar_images):
    settings = dataclasses.replace(SETTINGS, model="conv4", recipe=Recipe(epochs=6, lr=0.1, warmup=0.2, batch_size=64))
    stats = statistics(cifar_images, settings)
    right = (stats.validation[0] @ stats.head[:, :-1].T + stats.head[:, -1]).argmax(1) == stats.validation[1]
    assert right.mean() > 0.2  # twice what guessing gives
    assert stats.dynamics[0].correct[-1].mean() > stats.dynamics[0].correct[0].mean()
    result = leanset.prune(stats, fraction=0.4, coverage="none", frontier=False)
    certificate = result.certificate
    assert certificate.refit_change < certificate.random_refit_change_mean
    assert certificate.newton_change == pytest.approx(certificate.refit_change, rel=0.3)
