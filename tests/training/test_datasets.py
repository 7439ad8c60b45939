import numpy as np
import pytest
import torch
from torch.utils.data import TensorDataset

from leanset import InputError
from leanset.training.datasets import DatasetBatches

CPU = torch.device("cpu")
ROWS = [np.array([2, 0]), np.array([1])]


class Items:
    """A map-style data set of the given items."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, row):
        return self.items[row]


@pytest.mark.parametrize(
    "dataset",
    [
        TensorDataset(torch.arange(6.0).reshape(3, 2), torch.tensor([4, 5, 6])),
        Items([(torch.tensor([2.0 * k, 2.0 * k + 1]), 4 + k, f"file {k}") for k in range(3)]),
        Items([{"image": torch.tensor([2.0 * k, 2.0 * k + 1]), "label": 4 + k} for k in range(3)]),
        Items([{"pixel_values": np.array([2.0 * k, 2.0 * k + 1], np.float32), "labels": 4 + k} for k in range(3)]),
    ],
)
def test_pairs_and_dicts_become_batches(dataset):
    for batches in (DatasetBatches(dataset).plain(ROWS, CPU), DatasetBatches(dataset).training(ROWS, None, CPU, 0)):
        first, second = batches
        assert first.inputs.tolist() == [[4, 5], [0, 1]]
        assert (first.labels.tolist(), first.places.tolist()) == ([6, 4], [2, 0])
        assert second.labels.tolist() == [5]


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([torch.zeros(2)] * 3, "pairs or dicts"),
        ([{"picture": torch.zeros(2), "label": 0}] * 3, "'picture'"),
        ([(torch.zeros(2), 0.5)] * 3, "one integer per item"),
        ([(torch.zeros(2), torch.zeros(2, dtype=torch.long))] * 3, "one integer per item"),
        ([(torch.zeros(2, dtype=torch.uint8), 0)] * 3, r"are bytes \(uint8\).*image / 255"),
        ([(object(), 0)] * 3, "transform them to tensors"),
    ],
)
def test_other_items_are_refused_in_words(items, said):
    with pytest.raises(InputError, match=said):
        list(DatasetBatches(Items(items)).plain(ROWS, CPU))


def test_an_iterable_or_empty_data_set_is_refused():
    with pytest.raises(InputError, match="`dataset` must be map-style"):
        DatasetBatches(iter([1]))
    with pytest.raises(InputError, match="`dataset` is empty"):
        DatasetBatches(Items([]))
