"""A capture into a store: the same statistics as in memory, and able to go on where it was stopped."""

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

import leanset
import leanset.torch as lt
from leanset.head import HeadStatistics
from leanset.rows import RowTable, all_rows

N = 20_000


class Numbers(Dataset):
    """Counts what is asked of it, and may end the program in the middle."""

    def __init__(self, fails_at=None):
        rng = torch.Generator().manual_seed(0)
        self.labels = torch.arange(N) % 3
        self.inputs = torch.randn(N, 4, generator=rng) + self.labels[:, None]
        self.fails_at, self.asked = fails_at, []

    def __len__(self):
        return N

    def __getitem__(self, place):
        self.asked.append(place)
        if place == self.fails_at:
            raise KeyboardInterrupt
        return self.inputs[place], self.labels[place]


def network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def test_a_capture_that_was_stopped_goes_on_and_is_that_in_memory(tmp_path):
    place, model = tmp_path / "head.zarr", network()
    plain = lt.capture(model, Numbers(), validation=Numbers(), weight_decay=1e-3)
    with pytest.raises(KeyboardInterrupt):
        lt.capture(model, Numbers(fails_at=17_000), validation=Numbers(), weight_decay=1e-3, out=place)
    with pytest.raises(leanset.RunFolderError, match="not finished"):
        HeadStatistics.load(place)
    again = Numbers()
    found = lt.capture(model, again, validation=Numbers(), weight_decay=1e-3, out=place)
    assert min(again.asked) == 16_384  # two chunks were there
    for stored in (found, HeadStatistics.load(place)):
        assert isinstance(stored.features, RowTable)
        np.testing.assert_allclose(all_rows(stored.features), plain.features, rtol=1e-6)
        np.testing.assert_allclose(all_rows(stored.logits), plain.logits, rtol=1e-5)
        np.testing.assert_allclose(all_rows(stored.validation[0]), plain.validation[0], rtol=1e-6)
        np.testing.assert_array_equal(stored.labels, plain.labels)
        np.testing.assert_allclose(stored.head, plain.head)
        assert (stored.classes, stored.weight_decay) == (plain.classes, plain.weight_decay)
    with pytest.raises(leanset.InputError, match="another network"):
        lt.capture(network(seed=1), Numbers(), out=place)


def test_statistics_in_a_store_are_pruned_like_those_in_memory(tmp_path):
    options = {"fraction": 0.4, "frontier": False, "random_draws": 2, "proposals": 100, "suspects": "ignore"}
    stored = lt.capture(network(), Numbers(), weight_decay=1e-3, out=tmp_path / "head.zarr")
    found = leanset.prune(f"head:{tmp_path / 'head.zarr'}", **options)
    expected = leanset.prune(stored.in_memory(), **options)
    np.testing.assert_array_equal(found.kept, expected.kept)
    assert found.certificate.refit_change == expected.certificate.refit_change
