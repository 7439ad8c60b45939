import numpy as np
import pytest

from leanset._threads import working_threads
from leanset.rows import MemoryRows, largest_in_rows, map_rows, map_some_rows, some_rows, sum_rows

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
