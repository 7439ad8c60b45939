import pytest

from leanset._memory import BYTES_OF_A_ROW, FOR_FEATURES, Shares


@pytest.mark.parametrize("rows", [1_000, 1_000_000, 10_000_000])
def test_all_that_is_there_at_once_fits_into_the_memory_of_a_run(rows):
    memory = 4_000_000_000
    share = Shares.of(memory, rows)
    stored = share.rows + 4 * share.column + share.kept + share.vectors
    assert stored + memory // FOR_FEATURES + BYTES_OF_A_ROW * rows <= 1.01 * memory


def test_rows_that_leave_nothing_of_the_memory_leave_a_quarter_for_the_rest():
    assert Shares.of(2**30, 10**9) == Shares.of(2**28, 0)
