"""Rows that are damaged, cut off or gone: one error that names the place, whenever it happens."""

import os
import sys

import numpy as np
import pytest
import zarr
from zarr.codecs import Crc32cCodec

import leanset
from leanset.data import open_source
from leanset.rows import StoreWriter, sum_rows
from tests.rows.places import mixture, write_npy, write_parquet, write_zarr

FEATURES, LABELS = mixture(n=40_000, width=6, classes=3)


def whole(table):
    return sum_rows(lambda x: x.sum(axis=0, dtype=float), table, width=6)


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


DAMAGE = {"flipped bit": flip, "half a chunk": lambda path: os.truncate(path, 1000), "gone": os.remove}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("opened", [True, False])
def test_a_damaged_chunk_of_a_store_is_named(tmp_path, damage, opened):
    source = write_zarr(tmp_path, FEATURES, LABELS)
    table = open_source(source, features_memory=0).features
    expected = whole(table)
    chunk = tmp_path / "data.zarr" / "features" / "c" / "3" / "0"
    intact = chunk.read_bytes()
    DAMAGE[damage](chunk)
    # A store that is opened with a chunk missing counts what is missing; one that loses it later names the chunk.
    told = (
        r"1 of the 5 chunks of `features` are missing"
        if damage == "gone" and not opened
        else r"chunk c/3/0 of `features`"
    )
    with pytest.raises(leanset.InputError, match=told):
        whole(table if opened else open_source(source, features_memory=0).features)
    chunk.write_bytes(intact)
    np.testing.assert_array_equal(whole(open_source(source, features_memory=0).features), expected)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_chunk_that_has_some_columns_of_its_rows_is_named(tmp_path, damage):
    store, kind = zarr.create_group(tmp_path / "data.zarr"), {"fill_value": np.nan, "compressors": Crc32cCodec()}
    store.create_array("features", data=FEATURES, chunks=(8192, 4), **kind)
    store.create_array("labels", data=LABELS)
    table = open_source(str(tmp_path / "data.zarr"), features_memory=0).features
    DAMAGE[damage](tmp_path / "data.zarr" / "features" / "c" / "2" / "1")
    with pytest.raises(leanset.InputError, match=r"chunk c/2/1 of `features`"):
        whole(table)


def test_a_damaged_label_is_named(tmp_path):
    source = write_zarr(tmp_path, FEATURES, LABELS)
    flip(tmp_path / "data.zarr" / "labels" / "c" / "0")
    with pytest.raises(leanset.InputError, match=r"chunk c/0 of `labels`"):
        open_source(source)


@pytest.mark.parametrize("damage", [lambda path: os.truncate(path, 100_000), os.remove])
def test_a_file_that_shrinks_or_vanishes_is_named(tmp_path, damage):
    table = open_source(write_npy(tmp_path, FEATURES, LABELS), features_memory=0).features
    damage(tmp_path / "features.npy")
    with pytest.raises(leanset.InputError, match=r"features\.npy: (ends before row|cannot be read any more)"):
        whole(table)


def test_a_parquet_file_that_vanishes_is_named(tmp_path):
    table = open_source(write_parquet(tmp_path, FEATURES, LABELS), features_memory=0).features
    os.remove(tmp_path / "tables" / "part-2.parquet")
    with pytest.raises(leanset.InputError, match=r"part-2\.parquet"):
        whole(table)


def test_an_interrupted_writer_goes_on_where_it_was_and_an_unfinished_store_is_refused(tmp_path):
    place, columns = str(tmp_path / "data.zarr"), {"features": ((6,), np.float32), "labels": ((), np.int64)}
    writer = StoreWriter.at(place, len(LABELS), columns)
    writer.write(features=FEATURES[:30_000], labels=LABELS[:30_000])
    with pytest.raises(leanset.InputError, match="not finished"):
        open_source(place)
    again = StoreWriter.at(place, len(LABELS), columns)
    assert again.done == 30_000 // again.step * again.step > 0
    os.truncate(tmp_path / "data.zarr" / "features" / "c" / "2" / "0", 1000)  # as if killed while writing
    again = StoreWriter.at(place, len(LABELS), columns)
    assert again.done == 2 * again.step
    again.write(features=FEATURES[again.done :], labels=LABELS[again.done :])
    again.finish()
    found = open_source(place)
    np.testing.assert_array_equal(found.features, FEATURES)
    np.testing.assert_array_equal(found.labels, LABELS)
    with pytest.raises(leanset.InputError, match="another `features`"):
        StoreWriter.at(place, 17, columns)


def test_who_has_no_zarr_is_told_what_to_install(tmp_path, monkeypatch):
    source = write_zarr(tmp_path, FEATURES, LABELS)
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(leanset.MissingExtraError, match=r"leanset\[zarr\]"):
        open_source(source)


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "no.zarr").mkdir()
    with pytest.raises(leanset.InputError, match=r"cannot be read as a Zarr store"):
        open_source(str(tmp_path / "no.zarr"))
