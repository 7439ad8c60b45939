import dataclasses
import itertools

import numpy as np
import pyarrow.dataset
import pytest
import zarr

import leanset
from leanset._threads import thread_count
from leanset.data import Reading, checked_examples, fingerprint, open_source, read_in_memory
from leanset.rows import RowTable, all_rows, blocks_of, map_some_rows, some_rows, sum_rows
from tests.rows.places import WRITERS, mixture, write_npy, write_parquet, write_zarr

SMALL = {"n": 3000, "width": 7, "classes": 3}


def table_in(folder, place, features, labels):
    found = open_source(WRITERS[place](folder, features, labels), features_memory=0)
    assert isinstance(found.features, RowTable)
    return found


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("place", WRITERS)
def test_rows_are_the_same_wherever_they_are(tmp_path, place, dtype):
    features, labels = mixture(**SMALL, dtype=dtype)
    found = table_in(tmp_path, place, features, labels)
    plain = features.astype(np.float32)
    table, rng = found.features, np.random.default_rng(1)
    np.testing.assert_array_equal(all_rows(table), plain)
    np.testing.assert_array_equal(np.concatenate(list(blocks_of(table))), plain)
    for some in (
        rng.permutation(3000)[:17],
        rng.permutation(3000),
        np.array([2999, 0, 0]),
        np.zeros(0, dtype=np.int64),
    ):
        np.testing.assert_array_equal(map_some_rows(lambda x: x, table, some, width=7), plain[some])
    weights = (rng.random(3000) < 0.3).astype(float)
    np.testing.assert_allclose(
        sum_rows(lambda x, w: w @ x.astype(float), table, width=7, weights=weights), weights @ plain, rtol=1e-12
    )
    np.testing.assert_array_equal(found.labels, labels)


@pytest.mark.parametrize("place", WRITERS)
def test_the_fingerprint_is_that_of_the_same_numbers_in_memory(tmp_path, place):
    features, labels = mixture(**SMALL)
    found = table_in(tmp_path, place, features, labels)
    assert fingerprint(dataclasses.replace(found)) == fingerprint(checked_examples(features, labels))


@pytest.mark.parametrize("place", WRITERS)
def test_some_examples_of_a_table_are_those_of_the_array(tmp_path, place):
    features, labels = mixture(**SMALL)
    places = np.flatnonzero(np.random.default_rng(2).random(3000) < 0.2)
    found = table_in(tmp_path, place, features, labels).take(places)
    plain = checked_examples(features, labels).take(places)
    np.testing.assert_array_equal(all_rows(found.features), plain.features)
    np.testing.assert_array_equal(all_rows(some_rows(found.features, np.array([3])))[0], plain.features[3])
    assert fingerprint(found) == fingerprint(plain)


LAYOUTS = {
    "larger than the chunks of a pass": {"chunks": (1700, 7)},
    "several for each row": {"chunks": (700, 3)},
    "tiny": {"chunks": (11, 7)},
    "in shards": {"chunks": (100, 7), "shards": (1000, 7)},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_chunks_of_stores_that_others_wrote_are_decoded_once_in_a_pass(tmp_path, monkeypatch, layout):
    features, labels = mixture(**SMALL)
    store, rng = zarr.create_group(tmp_path / "data.zarr"), np.random.default_rng(0)
    store.create_array("features", data=features, **LAYOUTS[layout])
    store.create_array("labels", data=labels)
    table, read = open_source(str(tmp_path / "data.zarr"), features_memory=0).features, []

    def counted(array, rows, *_):
        read.append(rows)
        return whole(array, rows)

    whole = zarr.Array.__getitem__
    monkeypatch.setattr(zarr.Array, "__getitem__", counted)
    with thread_count(1):  # one of several may be so late that its chunk is forgotten; it then decodes it again
        found = sum_rows(lambda x: x.T @ x, table, width=2**16)  # in chunks of 64 rows
    decoded = sorted((rows.start, rows.stop) for rows in read)
    assert all(stop == start for (_, stop), (start, _) in itertools.pairwise(decoded)), "no row is read twice"
    step = LAYOUTS[layout]["chunks"][0]
    assert not any(start % step for start, _ in decoded)
    np.testing.assert_allclose(found, features.T @ features, rtol=1e-4)
    for some in (rng.permutation(3000), np.sort(rng.permutation(3000)[:50]), np.array([2999, 0, 0])):
        np.testing.assert_array_equal(map_some_rows(lambda x: x, table, some, width=7), features[some])


def test_small_files_are_simply_read(tmp_path):
    features, labels = mixture(**SMALL)
    for write in (write_npy, write_zarr, write_parquet):
        assert isinstance(open_source(write(tmp_path, features, labels)).features, np.ndarray)


def test_what_is_not_finite_is_found_in_a_table(tmp_path):
    features, labels = mixture(**SMALL)
    features[1234, 3] = np.inf
    with pytest.raises(leanset.InputError, match=r"1 entries .* first at row 1234"):
        open_source(write_npy(tmp_path, features, labels), features_memory=0)


@pytest.fixture(scope="module")
def in_memory():
    features, labels = mixture()
    return features, labels, pruned(features, labels)


def pruned(*data, **options):
    settings = {
        "fraction": 0.8,
        "weights": True,
        "l2": 1e-3,
        "frontier": False,
        "random_draws": 2,
        "suspects": "ignore",
    }
    return leanset.prune(*data, **(settings | {"memory": 2**24} | options))


def same_answer(found, expected):
    np.testing.assert_array_equal(found.kept, expected.kept)
    np.testing.assert_array_equal(found.weight, expected.weight)
    mine, other = found.certificate.to_dict(), expected.certificate.to_dict()
    assert mine.keys() == other.keys()
    for key, value in other.items():
        assert mine[key] == (pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value), key


@pytest.mark.parametrize("place", ["npy", "zarr"])
def test_a_run_gives_the_same_answer_from_every_place(tmp_path, place, in_memory):
    features, labels, expected = in_memory
    source = WRITERS[place](tmp_path, features, labels)
    assert isinstance(open_source(source, features_memory=2**22).features, RowTable)
    same_answer(pruned(source), expected)


def test_less_memory_gives_the_same_answer(in_memory):
    features, labels, expected = in_memory  # made with so little memory that outputs are computed in each pass
    more = pruned(features, labels, memory=2**30)
    np.testing.assert_array_equal(more.kept, expected.kept)
    np.testing.assert_allclose(more.weight, expected.weight, rtol=1e-9)


def test_a_run_on_a_store_is_verified(tmp_path):
    features, labels = mixture(n=3000, width=5, classes=3)
    source = write_zarr(tmp_path, features, labels)
    leanset.prune(source, fraction=0.5, l2=1e-2, frontier=False, random_draws=2, out=tmp_path / "run", proposals=1000)
    examples = open_source(source, features_memory=0)
    assert isinstance(examples.features, RowTable)
    assert all(check.holds for check in leanset.verify(tmp_path / "run", examples))


def test_a_dataset_of_arrow_is_a_folder_of_its_files(tmp_path):
    features, labels = mixture(**SMALL)
    folder = write_parquet(tmp_path, features, labels).removeprefix("parquet:")
    found = read_in_memory(pyarrow.dataset.dataset(folder), Reading(features_memory=0))
    assert isinstance(found.features, RowTable)
    np.testing.assert_array_equal(all_rows(found.features), features.astype(np.float32))
    np.testing.assert_array_equal(found.labels, labels)
    options = {"fraction": 0.4, "frontier": False, "proposals": 100, "suspects": "ignore"}
    kept = leanset.prune(pyarrow.dataset.dataset(folder), **options).kept
    np.testing.assert_array_equal(kept, leanset.prune(features, labels, **options).kept)
