import subprocess
import sys

import numpy as np
import pytest

from leanset._threads import working_threads
from leanset.rows import (
    Derived,
    MemoryRows,
    largest_in_rows,
    map_rows,
    map_some_rows,
    some_entries,
    some_rows,
    sum_rows,
    watched_by,
)
from leanset.rows.ordered import GROUP, OrderedSum, summed

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(20_000, 3))
COLUMN = RNG.normal(size=(20_000, 2))
ROWS = MemoryRows(TABLE)
WEIGHTS = {
    "all": np.ones(len(TABLE)),
    "few": (RNG.random(len(TABLE)) < 0.1).astype(float),
    "most": (RNG.random(len(TABLE)) < 0.8).astype(float),
    "none": np.zeros(len(TABLE)),
    "any": RNG.exponential(size=len(TABLE)) * (RNG.random(len(TABLE)) < 0.4),
    "one chunk": np.where(np.arange(len(TABLE)) < 100, 1.0, 0.0),
}


def test_a_sum_is_the_sum_over_all_rows():
    np.testing.assert_allclose(sum_rows(lambda x, c: c.T @ x, ROWS, COLUMN, width=5), COLUMN.T @ TABLE, rtol=1e-10)
    total, count = sum_rows(lambda x: (x.sum(axis=0), np.array(len(x))), ROWS, width=3)
    np.testing.assert_allclose(total, TABLE.sum(axis=0), rtol=1e-10)
    assert count == len(TABLE)


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_count_rows_as_often_as_they_say(name):
    w = WEIGHTS[name]
    found = sum_rows(lambda x, c, w: (c * w[:, None]).T @ x, ROWS, COLUMN, width=5, weights=w)
    np.testing.assert_allclose(found, (COLUMN * w[:, None]).T @ TABLE, atol=1e-9)


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_map_with_weights_is_right_where_they_are_not_zero(name):
    w = WEIGHTS[name]
    found = map_rows(lambda x, c: x[:, :2] * c, ROWS, COLUMN, width=5, weights=w)
    np.testing.assert_array_equal(found[w > 0], (TABLE[:, :2] * COLUMN)[w > 0])
    assert found.shape == (len(TABLE), 2)


def test_rows_of_weight_zero_are_not_read_where_they_are_many():
    seen = []
    sum_rows(lambda x, w: seen.append(len(x)) or 0.0, ROWS, width=3, weights=WEIGHTS["few"])
    assert sum(seen) == WEIGHTS["few"].sum()


def test_a_chunk_of_which_no_row_counts_is_skipped():  # work that reshapes its rows once failed on none of them
    weights = (np.arange(len(TABLE)) >= 15_000).astype(float)
    found = sum_rows(lambda x, w: (x * w[:, None]).reshape(len(x), -1).T @ x, ROWS, width=3, weights=weights)
    np.testing.assert_allclose(found, TABLE[15_000:].T @ TABLE[15_000:], rtol=1e-10)


def test_a_sum_never_writes_into_the_table():
    table = np.ones((20_000, 3))
    sum_rows(lambda x: x[0], MemoryRows(table), width=3)
    assert (table == 1).all()


def test_maps_keep_the_order_of_the_rows():
    np.testing.assert_array_equal(map_rows(lambda x: x[:, 0], ROWS, width=3), TABLE[:, 0])
    some = RNG.permutation(len(TABLE))[:9000]
    found = map_some_rows(lambda x, c: x[:, 0] + c[:, 1], ROWS, some, COLUMN, width=3)
    np.testing.assert_array_equal(found, TABLE[some, 0] + COLUMN[some, 1])
    assert map_some_rows(lambda x: x, ROWS, some[:0], width=3).shape == (0, 3)
    np.testing.assert_array_equal(map_rows(lambda x: x, some_rows(ROWS, some), width=3), TABLE[some])


def test_the_largest_entries_are_absolute_and_in_float64():
    found = largest_in_rows(MemoryRows(TABLE.astype(np.float32)))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, np.abs(TABLE.astype(np.float32)).max(axis=0))


def test_an_empty_table_sums_to_zero():
    assert sum_rows(lambda x: x.sum(axis=0), MemoryRows(np.zeros((0, 2))), width=2).tolist() == [0.0, 0.0]


def test_the_number_of_threads_does_not_change_a_bit():
    sums = []
    for threads in (1, 2, 5):
        with working_threads(threads):
            sums.append(sum_rows(lambda x, w: w @ x, ROWS, width=3, weights=WEIGHTS["any"]).tobytes())
    assert len(set(sums)) == 1


@pytest.mark.parametrize("count", [1, 15, 16, 17, 255, 256, 257, 700])
def test_sums_are_taken_in_groups_however_the_parts_come(count):
    parts = list(np.random.default_rng(count).normal(size=count) * 10.0 ** np.arange(count).clip(max=20))
    one_by_one, level = OrderedSum(), parts
    for part in parts:
        one_by_one.add(part)
    while len(level) > 1:  # what the workers of a cluster do
        level = [summed(level[start : start + GROUP]) for start in range(0, len(level), GROUP)]
    assert one_by_one.total() == level[0]
    np.testing.assert_allclose(level[0], np.sum(parts), rtol=1e-12)


def test_parts_of_no_rows_keep_their_place():
    some = OrderedSum()
    for part in [None] * 16 + [1.0, None, 2.0]:
        some.add(part)
    assert some.total() == 3.0
    assert OrderedSum().total() is None


def test_a_derived_column_is_what_is_computed_from_the_rows():
    stored = TABLE[:, :1] * COLUMN
    derived = Derived(lambda x, c: x[:, :1] * c, (COLUMN,))
    rows = np.array([19_999, 3])
    np.testing.assert_array_equal(some_entries(derived, ROWS, rows), stored[rows])
    for weights in (None, WEIGHTS["few"]):
        found = [
            sum_rows(lambda x, c, *w: c.T @ (x if not w else x * w[0][:, None]), ROWS, column, width=5, weights=weights)
            for column in (stored, derived)
        ]
        np.testing.assert_array_equal(*found)
        assert found[0].shape == (2, 3)


def test_long_passes_tell_how_far_they_are(monkeypatch):
    monkeypatch.setattr("leanset.rows.watch._LONG_PASS", 0.0)
    told = []
    with watched_by(lambda done, rows: told.append((done, rows))):
        map_rows(lambda x: x[:, 0], ROWS, width=3)
        sum_rows(lambda x: float(len(x)), ROWS, width=3)
    assert told == 2 * [(0, 20_000), (8192, 20_000), (16384, 20_000), (20_000, 20_000)]


LATE = """
from leanset._threads import working_threads
with working_threads(2):
    import scipy.linalg, threadpoolctl
    print({each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"})
"""


def test_a_blas_that_is_loaded_late_has_one_thread_too():  # the first run in a process once differed in its last digits
    said = subprocess.run([sys.executable, "-c", LATE], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "{1}"
