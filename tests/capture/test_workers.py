"""Captures by the workers of a cluster: the same bits as in one process, whatever happens to a worker."""

import os
import signal

import distributed
import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

import leanset
import leanset.torch as lt
from leanset.capture import capture_head
from leanset.rows import all_rows, computed_by
from leanset.rows.cluster import DaskEngine
from leanset.training import ImageBatches
from tests.capture.test_capture import Wrapped
from tests.capture.test_store import network
from tests.training.networks import striped_images, tiny

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


class Noting(Dataset):
    """Notes in a folder which rows were asked for; the first worker that is asked for row 300 is killed."""

    def __init__(self, folder):
        self.labels = torch.arange(600) % 3
        self.inputs = torch.randn(600, 4, generator=torch.Generator().manual_seed(0)) + self.labels[:, None]
        self.folder = folder

    def __len__(self):
        return 600

    def __getitem__(self, place):
        if place == 300 and not (self.folder / "killed").exists():
            (self.folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        (self.folder / f"{place}").touch()
        return self.inputs[place], self.labels[place]


def files_in(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_store_that_workers_write_is_that_of_one_process_and_only_what_is_missing_is_captured(
    tmp_path, client, monkeypatch
):
    monkeypatch.setattr("leanset.rows.zarr_writer.row_chunks", lambda rows, width: [slice(0, 128)])
    model, alone, shared, asked = network(), tmp_path / "alone.zarr", tmp_path / "shared.zarr", tmp_path / "asked"
    asked.mkdir()
    found = lt.capture(model, Noting(asked), out=shared, dask=client, batch_size=50)
    assert (asked / "killed").exists()
    assert all_rows(found.features).shape == (600, 8)
    lt.capture(model, Noting(asked), out=alone, batch_size=50)
    assert files_in(shared) == files_in(alone)
    for file in asked.glob("[0-9]*"):
        file.unlink()
    os.truncate(shared / "features" / "c" / "1" / "0", 1000)  # as if all had been stopped while this was written
    lt.capture(model, Noting(asked), out=shared, dask=client, batch_size=50)
    assert files_in(shared) == files_in(alone)
    assert sorted(int(file.name) for file in asked.glob("[0-9]*")) == list(range(128, 256))


def test_workers_send_what_is_captured_in_memory(client):
    images, model = striped_images(50), tiny()
    alone = capture_head(model, ImageBatches(images), CPU, batch_size=7)
    with computed_by(DaskEngine(client)):
        shared = capture_head(model, ImageBatches(images), CPU, batch_size=7)
    for name in ("features", "logits", "labels"):
        np.testing.assert_array_equal(getattr(shared, name), getattr(alone, name))


def test_a_network_that_has_no_head_is_refused_by_workers_as_here(client):
    with pytest.raises(leanset.InputError, match="it is not the head"), computed_by(DaskEngine(client)):
        capture_head(Wrapped(lambda z: z.softmax(1)), ImageBatches(striped_images(8, held_out=0)), CPU)
