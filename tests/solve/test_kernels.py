import numpy as np
import pytest

from leanset.solve import kernels
from leanset.solve.annealing import Level, _segments


def test_exchange_gain_is_the_difference_of_squared_norms():
    rng = np.random.default_rng(0)
    vectors, total = rng.normal(size=(5, 7)).astype(np.float32), rng.normal(size=7).astype(np.float32)
    for leaves, enters in [(0, 1), (3, 2), (4, 0)]:
        after = total.astype(float) - vectors[leaves] + vectors[enters]
        expected = after @ after - total.astype(float) @ total
        assert kernels.exchange_gain(vectors, total, leaves, enters) == pytest.approx(expected, rel=1e-4)


def test_annealing_keeps_its_books():
    """After many exchanges the running sum, the segments and the class allowances must still describe the set."""
    rng = np.random.default_rng(1)
    k, n_classes = 60, 3
    vectors = rng.normal(size=(k, 4)).astype(np.float32)
    labels, removed = np.arange(k) % n_classes, rng.random(k) < 0.4
    groups = np.zeros(k, dtype=np.int64)
    level = Level(1.0, np.arange(0, k, 2), np.arange(1, k, 2), 0.5, 0)
    order, position, segment, start, middle, end = _segments(level, groups, removed)
    total = vectors[removed].sum(axis=0)
    spare = np.array([0, 2, 100])
    best, energies = removed.copy(), np.array([float(total @ total)] * 2)
    before, count = np.bincount(labels[removed], minlength=3), removed.sum()
    accepted = kernels.anneal(
        vectors, labels, removed, total, level.movers, groups, order, position, segment, start, middle, end, spare, 0.5,
        20_000, 5.0, best, energies, np.array([7], dtype=np.uint64),
    )  # fmt: skip
    assert accepted > 1000
    assert removed.sum() == count
    np.testing.assert_allclose(total, vectors[removed].sum(axis=0), atol=1e-2)
    assert energies[0] == pytest.approx(float(total @ total), abs=0.05)
    assert energies[1] == pytest.approx(np.sum(vectors[best].sum(axis=0) ** 2), abs=0.05)
    after = np.bincount(labels[removed], minlength=3)
    assert (spare == np.array([0, 2, 100]) - (after - before)).all()
    assert (after - before <= [0, 2, 100]).all()
    for s in range(2):
        assert removed[order[start[s] : middle[s]]].all()
        assert not removed[order[middle[s] : end[s]]].any()
    assert (order[position[order]] == order).all()


def test_random_numbers_are_uniform():
    @kernels.numba.njit
    def draw(state, count):
        out = np.empty(count)
        for i in range(count):
            out[i] = kernels._uniform(state)
        return out

    values = draw(np.array([12345], dtype=np.uint64), 100_000)
    assert values.min() >= 0
    assert values.max() < 1
    # Kolmogorov-Smirnov distance; 1.95/sqrt(n) is its 0.1 % point.
    distance = np.abs(np.sort(values) - np.arange(100_000) / 100_000).max()
    assert distance < 1.95 / np.sqrt(100_000)
