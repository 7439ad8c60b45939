import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leanset.select.sizes import ladder_counts, largest_within


@given(st.integers(3, 400), st.integers(0, 2**32 - 1), st.floats(0, 1), st.floats(0, 1))
def test_the_answer_is_monotone_in_the_limit_however_rough_the_measure(n, seed, first, second):
    noise = np.random.default_rng(seed).random((n + 1, 2))
    low, high = sorted([first, second])

    def answer(limit):
        def fits(size, effort):
            return noise[size, int(effort)] <= limit

        size, effort = largest_within(fits, n, n - 1, quick=0, thorough=1)
        assert size == 0 or fits(size, effort)
        return size

    assert answer(low) <= answer(high)


@given(st.integers(3, 2000), st.data())
def test_a_rising_measure_is_searched_to_the_resolution(n, data):
    true = data.draw(st.integers(0, n - 1))
    size, _ = largest_within(lambda count, effort: count <= true, n, n - 1, quick=0, thorough=1)
    assert true - max(1, 0.002 * n) <= size <= true
    assert (size == 0) == (true == 0)


def test_ladders_are_ascending_and_possible():
    for n, most in ((3, 1), (10, 9), (50_000, 49_990), (11, 4)):
        counts = ladder_counts(n, most)
        assert counts == sorted(set(counts))
        assert all(0 < count <= most for count in counts)
