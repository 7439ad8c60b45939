import pytest

from leanset._memory import BYTES_OF_A_ROW, FOR_FEATURES, Shares


@pytest.mark.parametrize("width", [10, 1_000])
@pytest.mark.parametrize("rows", [1_000, 1_000_000, 10_000_000])
def test_all_that_is_there_at_once_fits_into_the_memory_of_a_run(rows, width):
    memory = 4_000_000_000
    share = Shares.of(memory, rows, width)
    stored = 8 * rows * width * share.copies_rows + 2 * share.column + share.kept + share.vectors
    assert stored + memory // FOR_FEATURES + BYTES_OF_A_ROW * rows <= 1.02 * memory


def test_rows_that_leave_nothing_of_the_memory_leave_a_quarter_for_the_rest():
    assert Shares.of(2**30, 10**9, 1_000).vectors == Shares.of(2**28, 0, 1_000).vectors


def test_where_no_copy_of_the_rows_fits_its_share_is_for_the_columns():
    memory = 4_000_000_000
    fits, does_not = Shares.of(memory, 200_000, 513), Shares.of(memory, 1_000_000, 513)
    assert fits.copies_rows
    assert not does_not.copies_rows
    assert does_not.column > 2 * fits.column
    assert does_not.stores(1_000_000, 100)
    assert not fits.stores(1_000_000, 100)
