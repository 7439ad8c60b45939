"""The front door for people with a torch network."""

import numpy as np
import pytest
import torch
from torch.utils.data import TensorDataset

import leanset
import leanset.torch as lt
from leanset import InputError, RunFolderError
from tests.training.networks import striped_images, tiny

RECIPE = lt.Recipe(epochs=3, lr=0.1, batch_size=16)


@pytest.fixture(scope="module")
def dataset():
    images = striped_images()
    return TensorDataset(torch.from_numpy(images.pixels / np.float32(255)), torch.from_numpy(images.labels))


def weights(model):
    return torch.cat([value.detach().flatten().float() for value in model.state_dict().values()])


def test_capture_prune_and_subset(dataset):
    model = tiny()
    training = lt.train(model, dataset, recipe=RECIPE, device="cpu")
    stats = lt.capture(
        model, dataset, head="fc", validation=dataset, weight_decay=RECIPE.weight_decay, classes=("a", "b", "c")
    )
    result = leanset.prune(stats, fraction=0.4, frontier=False)
    subset = result.subset(dataset)
    assert [int(subset[k][1]) for k in range(len(subset))] == dataset.tensors[1][result.kept].tolist()
    assert result.certificate.l2 == RECIPE.weight_decay
    recorded = stats.with_evidence(dynamics=training.dynamics, gradient_norm=lt.gradient_norms(model, dataset))
    for method in ("forgetting", "grand"):
        assert len(leanset.prune(recorded, fraction=0.4, method=method, frontier=False).removed) == round(0.4 * 96)
    with pytest.raises(InputError, match="pass the data set that was pruned"):
        result.subset(TensorDataset(torch.zeros(97)))


def test_a_finished_training_is_loaded_and_another_one_refused(dataset, tmp_path):
    first = lt.train(tiny(), dataset, recipe=RECIPE, device="cpu", out=tmp_path)
    again = lt.train(tiny(), dataset, recipe=RECIPE, device="cpu", out=tmp_path)
    assert torch.equal(weights(first.model), weights(again.model))
    np.testing.assert_array_equal(first.dynamics.margin, again.dynamics.margin)
    for other in ({"seed": 1}, {"rows": [0, 1, 2]}, {"record": False}, {"weights": np.ones(len(dataset))}):
        with pytest.raises(RunFolderError, match=next(iter(other))):
            lt.train(tiny(), dataset, recipe=RECIPE, device="cpu", out=tmp_path, **other)
    with pytest.raises(RunFolderError, match="start"):
        lt.train(tiny(seed=1), dataset, recipe=RECIPE, device="cpu", out=tmp_path)
    lt.train(tiny(seed=1), dataset, recipe=RECIPE, device="cpu", out=tmp_path, overwrite=True)


def test_a_wrong_call_leaves_an_earlier_capture_alone(dataset, tmp_path):
    lt.capture(tiny(), dataset, out=tmp_path)
    for wrong in ({"classes": ("a",)}, {"head": "conv"}, {"validation": []}):
        with pytest.raises(InputError):
            lt.capture(tiny(), dataset, out=tmp_path, **wrong)
    assert len(lt.HeadStatistics.load(tmp_path)) == 96


def test_a_second_capture_does_not_change_what_the_first_returned(dataset, tmp_path):
    one = lt.capture(tiny(), dataset, out=tmp_path)
    before = np.array(one.features)
    two = lt.capture(tiny(seed=1), dataset, out=tmp_path)
    np.testing.assert_array_equal(one.features, before)
    assert not np.array_equal(two.features, before)


def test_networks_of_volumes_and_without_normalisation_train(dataset):
    volumes = TensorDataset(torch.randn(12, 1, 4, 4, 4), torch.arange(12) % 2)
    model = torch.nn.Sequential(torch.nn.Conv3d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(16, 2))
    training = lt.train(model, volumes, recipe="fast", device="cpu")
    assert np.isfinite(training.history[-1].loss)


def test_a_weight_of_two_is_a_row_that_comes_twice(dataset):
    rows, twice = np.arange(0, 60, 3), np.array([0, 12, 57])
    recipe = lt.Recipe(epochs=4, lr=0.1, batch_size=1000, label_smoothing=0.1)  # one step an epoch
    given = np.where(np.isin(rows, twice), 2.0, 1.0)

    def trained(**how):
        torch.manual_seed(0)
        inputs = dataset.tensors[0].flatten(1)
        model = torch.nn.Linear(inputs.shape[1], 3)
        data = TensorDataset(inputs, dataset.tensors[1])
        return weights(lt.train(model, data, recipe=recipe, device="cpu", **how).model)

    by_weight = trained(rows=rows, weights=given)
    by_repeat, scaled = trained(rows=np.concatenate([rows, twice])), trained(rows=rows, weights=7 * given)
    plain = trained(rows=rows)
    torch.testing.assert_close(by_weight, by_repeat, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(by_weight, scaled, rtol=1e-4, atol=1e-6)
    assert (by_weight - plain).abs().max() > 1e-3


@pytest.mark.parametrize("bad", [[1.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0], [[1.0], [1.0], [1.0]]])
def test_weights_that_are_none_are_refused_and_leave_an_earlier_training_alone(dataset, bad, tmp_path):
    (tmp_path / "training.json").write_text("{}")
    with pytest.raises(InputError, match="`weights` must be 3 finite numbers"):
        lt.train(
            tiny(), dataset, recipe=RECIPE, device="cpu", rows=[0, 1, 2], weights=bad, out=tmp_path, overwrite=True
        )
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("training.json", "{}")]


def test_weights_of_a_row_that_is_named_twice_are_refused(dataset):
    with pytest.raises(InputError, match="named once"):
        lt.train(tiny(), dataset, recipe=RECIPE, device="cpu", rows=[0, 1, 1], weights=[1.0, 1.0, 2.0])


def test_rows_outside_are_refused(dataset):
    with pytest.raises(InputError, match=r"0\.\.95"):
        lt.train(tiny(), dataset, recipe=RECIPE, rows=[96])
