import dataclasses

import numpy as np
import pytest
import torch
from torch.nn.functional import softmax

from leanset import DivergenceError, InputError, RunFolderError
from leanset.data import Dynamics
from leanset.training.batches import ImageBatches
from leanset.training.devices import fabric_for
from leanset.training.folder import NetworkFolder
from leanset.training.loop import train
from leanset.training.quality import quality
from leanset.training.recipe import Recipe
from leanset.training.recorder import Recorder, joined
from tests.training.networks import striped_images, tiny

RECIPE = Recipe(epochs=4, lr=0.1, batch_size=16, crop=1)


def same_weights(one, two):
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True))


def run(images=None, *, model=None, recipe=RECIPE, **options):
    data = ImageBatches(images or striped_images())
    return train(model or tiny(), data, recipe, fabric_for("cpu"), **options)


def test_it_learns_what_can_be_learnt():
    images = striped_images(240)
    trained = run(images, recipe=dataclasses.replace(RECIPE, epochs=12))
    assert trained.history[-1].loss < trained.history[0].loss
    held_out = ImageBatches(images.held_out, ImageBatches(images).scale)
    assert quality(trained.model, held_out, torch.device("cpu")).accuracy > 0.7


def test_the_same_seed_gives_the_same_network_and_another_seed_another():
    one, two, other = run(seed=1), run(seed=1), run(seed=2)
    assert same_weights(one.model, two.model)
    np.testing.assert_array_equal(one.dynamics.margin, two.dynamics.margin)
    assert not same_weights(one.model, other.model)


def test_training_does_not_disturb_the_callers_random_numbers():
    torch.manual_seed(5)
    wanted = torch.rand(1)
    torch.manual_seed(5)
    model = tiny()
    torch.manual_seed(5)
    run(model=model)
    assert torch.equal(torch.rand(1), wanted)


class _Interrupted(Exception):
    pass


class _StopsAfter:
    """A reporter that interrupts the training when a share of it is done."""

    def __init__(self, share):
        self.share = share

    def stage(self, title, *, units=1.0, unit=""):
        import contextlib

        def advance(done):
            if done >= self.share:
                raise _Interrupted

        return contextlib.nullcontext(advance)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_an_interrupted_training_ends_as_if_nothing_had_happened(tmp_path, share):
    whole = run(seed=3)
    folder = NetworkFolder(tmp_path)
    with pytest.raises(_Interrupted):
        run(seed=3, folder=folder, reporter=_StopsAfter(share))
    resumed = run(seed=3, model=tiny(seed=99), folder=folder)
    assert same_weights(whole.model, resumed.model)
    assert whole.history == resumed.history
    for name in Dynamics.names():
        np.testing.assert_array_equal(getattr(whole.dynamics, name), getattr(resumed.dynamics, name))


def test_a_finished_folder_gives_back_what_was_put_in(tmp_path):
    folder, trained = NetworkFolder(tmp_path), run(seed=1)
    folder.finish(trained.model, trained.history, trained.dynamics, {"network": "tiny"})
    model = tiny(seed=8)
    dynamics, history = folder.load(model)
    assert folder.is_finished
    assert same_weights(model, trained.model)
    assert [log.epoch for log in history] == [1, 2, 3, 4]
    np.testing.assert_array_equal(dynamics.correct, trained.dynamics.correct)


def test_checkpoints_that_a_killed_training_could_not_remove_go_the_next_time(tmp_path, monkeypatch):
    folder = NetworkFolder(tmp_path)
    folder.open({"seed": 1})
    trained = run(seed=1, folder=folder)
    with monkeypatch.context() as killed:
        killed.setattr(NetworkFolder, "_remove_checkpoints", lambda folder: None)
        folder.finish(trained.model, trained.history, trained.dynamics, {})
    assert (tmp_path / "last.pt").is_file()
    with pytest.raises(RunFolderError):
        folder.open({"seed": 2})  # whoever may not use a folder changes nothing in it
    assert (tmp_path / "last.pt").is_file()
    folder.open({"seed": 1})
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"dynamics.npz", "early.pt", "history.csv", "model.pt", "training.json"}


def test_a_replacement_that_was_killed_leaves_nothing_of_the_old_training(tmp_path):
    folder, trained = NetworkFolder(tmp_path), run(seed=1)
    folder.open({"seed": 1})
    folder.finish(trained.model, trained.history, trained.dynamics, {})
    (tmp_path / "model.pt").unlink()  # which is removed first
    folder.open({"seed": 2}, replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["training.json"]


def test_a_folder_of_another_training_is_refused_and_can_be_replaced(tmp_path):
    NetworkFolder(tmp_path).open({"seed": 1, "recipe": {}})
    NetworkFolder(tmp_path).finish(tiny(), (), None, {})
    (tmp_path / "notes.txt").write_text("mine")
    NetworkFolder(tmp_path).open({"seed": 1, "recipe": {}})
    with pytest.raises(
        RunFolderError, match=r"other `seed`.*`retrain=True` when pruning, `overwrite=True` when training"
    ):
        NetworkFolder(tmp_path).open({"seed": 2, "recipe": {}})
    NetworkFolder(tmp_path).open({"seed": 2, "recipe": {}}, replace=True)
    assert NetworkFolder(tmp_path).read_json("training.json")["seed"] == 2
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_training_that_came_to_nothing_does_not_block_the_next(tmp_path):
    NetworkFolder(tmp_path).open({"seed": 1})
    NetworkFolder(tmp_path).open({"seed": 2})
    assert NetworkFolder(tmp_path).read_json("training.json") == {"seed": 2}


def test_a_folder_of_something_else_is_never_taken(tmp_path):
    (tmp_path / "settings.json").write_text("{}")  # a pruning run has such a file
    for replace in (False, True):
        with pytest.raises(RunFolderError, match="something else"):
            NetworkFolder(tmp_path).open({"seed": 1}, replace=replace)
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_only_the_given_places_are_trained_on():
    places = np.array([0, 3, 5, 8, 40, 41, 42, 90])
    images = striped_images()
    seen = run(images, places=places).dynamics.label_probability
    assert np.isfinite(seen[:, places]).all()
    assert np.isnan(np.delete(seen, places, axis=1)).all()
    pixels = images.pixels.copy()
    pixels[np.delete(np.arange(len(images)), places)] = 0
    blanked = dataclasses.replace(images, pixels=pixels)
    scale = ImageBatches(images).scale
    one, two = (
        train(tiny(), ImageBatches(part, scale), RECIPE, fabric_for("cpu"), places=places).model
        for part in (images, blanked)
    )
    assert same_weights(one, two)


class _Watched(ImageBatches):
    """Batches that remember which images each epoch was told to mirror."""

    def training(self, steps, recipe, device, seed, mirrored=None):
        self.told = [*getattr(self, "told", []), mirrored]
        return super().training(steps, recipe, device, seed, mirrored)


@pytest.mark.parametrize("places", [None, np.arange(1, 90, 2)])
def test_alternating_flips_show_every_image_both_ways_in_turn_and_half_of_them_mirrored_first(places):
    data = _Watched(striped_images())
    recipe = dataclasses.replace(RECIPE, alternating_flip=True)
    train(tiny(), data, recipe, fabric_for("cpu"), places=places, seed=1)
    told = np.stack(data.told)[:, np.arange(96) if places is None else places]
    assert told.shape == (4, 96 if places is None else 45)
    assert abs(told.sum(axis=1) - told.shape[1] / 2).max() <= 0.5
    assert (told[1:] != told[:-1]).all()
    again = _Watched(striped_images())
    train(tiny(), again, recipe, fabric_for("cpu"), places=places, seed=2)
    assert not np.array_equal(np.stack(data.told), np.stack(again.told))


@pytest.mark.parametrize("change", [{"alternating_flip": False}, {"alternating_flip": True, "flip": False}])
def test_without_alternating_flips_nobody_is_told_to_mirror(change):
    data = _Watched(striped_images())
    train(tiny(), data, dataclasses.replace(RECIPE, **change), fabric_for("cpu"))
    assert data.told == [None] * 4


def test_the_smoothed_loss_is_the_closed_form():
    images, smoothing = striped_images(), 0.2
    recipe = dataclasses.replace(RECIPE, epochs=1, batch_size=96, crop=0, flip=False, label_smoothing=smoothing)
    trained = run(images, recipe=recipe)
    batch = next(iter(ImageBatches(images).plain([np.arange(96)], torch.device("cpu"))))
    with torch.inference_mode():
        log_p = torch.log_softmax(tiny().train()(batch.inputs), dim=1)
    own = log_p[torch.arange(96), batch.labels]
    wanted = -(1 - smoothing) * own.mean() - smoothing * log_p.mean()  # an even share of the smoothing for every class
    assert trained.history[0].loss == pytest.approx(wanted.item(), rel=1e-5)


def test_divergence_is_said_with_advice():
    recipe = dataclasses.replace(RECIPE, lr=1e30)
    with pytest.raises(DivergenceError, match=r"Lower the learning rate, `lr=1e\+30`"):
        run(recipe=recipe)


def test_recording_does_not_change_the_training():
    assert same_weights(run(record=True).model, run(record=False).model)
    assert run(record=False).dynamics is None


def test_what_is_recorded_is_what_the_definitions_say():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(2, 7, 4)) * 3, rng.integers(0, 4, 7)
    recorder, pages = Recorder(9, torch.device("cpu")), []
    places = np.array([8, 0, 2, 3, 4, 6, 7])
    for epoch in range(2):
        recorder.note(torch.tensor(logits[epoch]), torch.tensor(labels), torch.tensor(places))
        pages.append(recorder.next_epoch())
    dynamics = joined(pages)
    for epoch in range(2):
        for row, place in enumerate(places):
            z, y = logits[epoch, row], labels[row]
            p = softmax(torch.tensor(z), 0).numpy()
            others = [z[c] for c in range(4) if c != y]
            assert dynamics.correct[epoch, place] == (np.argmax(z) == y)
            assert dynamics.label_probability[epoch, place] == pytest.approx(p[y], rel=1e-5)
            assert dynamics.margin[epoch, place] == pytest.approx(z[y] - max(others), rel=1e-5)
            assert dynamics.error_norm[epoch, place] == pytest.approx(np.linalg.norm(p - np.eye(4)[y]), rel=1e-4)
    assert np.isnan(dynamics.margin[:, [1, 5]]).all()
    assert not dynamics.correct[:, [1, 5]].any()


def test_quality_is_the_share_of_right_answers_and_the_mean_loss_and_leaves_the_mode_alone():
    images, model = striped_images(), tiny().train()
    data = ImageBatches(images)
    seen = quality(model, data, torch.device("cpu"), batch_size=10)
    assert model.training
    batch = next(iter(data.plain([np.arange(len(images))], torch.device("cpu"))))
    with torch.inference_mode():
        logits = model.eval()(batch.inputs)
    right = (logits.argmax(1) == batch.labels).float().mean()
    assert seen.accuracy == pytest.approx(right.item(), abs=1e-6)
    own = softmax(logits, 1)[torch.arange(len(images)), batch.labels]
    assert seen.loss == pytest.approx(-own.log().mean().item(), rel=1e-5)


def test_more_devices_than_there_are_is_refused_before_processes_are_started():
    with pytest.raises(InputError, match="`devices=999` is more than the"):
        fabric_for("cpu", 999)
