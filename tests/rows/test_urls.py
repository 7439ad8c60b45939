"""Stores behind URLs, here in fsspec's memory: the same rows, the same answers, errors that name the place."""

import sys

import numpy as np
import pytest
import torch
from torch.utils.data import TensorDataset

import leanset
import leanset.torch as lt
from leanset.data import open_source
from leanset.rows import RowTable, StoreWriter, all_rows
from tests.rows.places import mixture

FEATURES, LABELS = mixture(n=3000, width=7, classes=3)
OPTIONS = {"fraction": 0.4, "frontier": False, "random_draws": 2, "proposals": 1000, "suspects": "ignore"}


def writer(place):
    return StoreWriter.at(place, 3000, {"features": ((7,), np.float32), "labels": ((), np.int64)})


def test_a_store_behind_a_url_is_written_pruned_and_verified(tmp_path):
    place = "memory://test/a.zarr"
    with pytest.raises(leanset.InputError, match=r"memory://test/a\.zarr: cannot be read"):
        open_source(f"zarr:{place}")
    store = writer(place)
    with pytest.raises(leanset.InputError, match="not finished"):
        open_source(f"zarr:{place}")
    store.write(features=FEATURES, labels=LABELS)
    store.finish()
    table = open_source(f"zarr:{place}", features_memory=0).features
    assert isinstance(table, RowTable)
    np.testing.assert_array_equal(all_rows(table), FEATURES)
    found = leanset.prune(f"zarr:{place}", **OPTIONS, out=tmp_path / "run")
    np.testing.assert_array_equal(found.kept, leanset.prune(FEATURES, LABELS, **OPTIONS).kept)
    assert all(check.holds for check in leanset.verify(tmp_path / "run"))


def test_a_network_is_captured_to_a_url_and_pruned_from_there():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(7, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3))
    data = TensorDataset(torch.from_numpy(FEATURES), torch.from_numpy(LABELS))
    with pytest.raises(leanset.InputError, match=r"let its name end with \.zarr"):
        lt.capture(model, data, out="memory://test/head")
    stored = lt.capture(model, data, out="memory://test/head.zarr")
    np.testing.assert_allclose(all_rows(stored.features), lt.capture(model, data).features, rtol=1e-6)
    found = leanset.prune("head:memory://test/head.zarr", **OPTIONS)
    np.testing.assert_array_equal(found.kept, leanset.prune(stored.in_memory(), **OPTIONS).kept)


def test_what_a_url_needs_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(leanset.InputError, match=r"s3://bucket/a\.zarr: .*s3fs"):
        open_source("zarr:s3://bucket/a.zarr")
    with pytest.raises(leanset.InputError, match=r"s3://bucket/a\.zarr: cannot be written: .*s3fs"):
        writer("s3://bucket/a.zarr")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(leanset.MissingExtraError, match=r"leanset\[zarr\]"):
        open_source("zarr:memory://test/a.zarr")
