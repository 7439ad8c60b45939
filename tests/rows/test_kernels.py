import numpy as np
import pytest

from leanset.rows import MemoryRows, ScaledRows, all_rows, scaled
from leanset.rows.kernels import scale_into

EVERY_HALF = np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(-1, 64)


def twin(chunk, mean, scale, last):
    """The plain formula, in float64."""
    with np.errstate(invalid="ignore"):  # signalling NaNs are among all float16
        return np.column_stack([(chunk.astype(np.float64) - mean) / scale, np.full(len(chunk), last)])


@pytest.mark.parametrize("worth_a_kernel", [0, 2**20])
@pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", ">f4", ">f8", "<i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_every_type_are_scaled_as_the_formula_says_to_the_last_bit(kind, order, worth_a_kernel, monkeypatch):
    monkeypatch.setattr(scaled, "_WORTH_A_KERNEL", worth_a_kernel)
    rng = np.random.default_rng(0)
    chunk = np.asarray(100 * rng.normal(size=(50, 7))).astype(kind, order=order)
    mean, scale = rng.normal(size=7), rng.random(7) + 0.1
    found = all_rows(ScaledRows(MemoryRows(chunk), mean, scale, 1.0))
    np.testing.assert_array_equal(found, twin(chunk, mean, scale, 1.0))


def test_every_float16_keeps_its_value_also_the_smallest_and_those_that_are_no_numbers():
    out = np.empty((len(EVERY_HALF), 65))
    scale_into(out, EVERY_HALF, np.zeros(64), np.ones(64), 0.0)
    np.testing.assert_array_equal(out, twin(EVERY_HALF, np.zeros(64), np.ones(64), 0.0))


def test_rows_that_may_not_be_written_to_are_read(monkeypatch):
    monkeypatch.setattr(scaled, "_WORTH_A_KERNEL", 0)
    chunk = np.ones((3, 2), dtype=np.float16)
    chunk.flags.writeable = False
    found = all_rows(ScaledRows(MemoryRows(chunk), np.zeros(2), np.full(2, 2.0), 1.0))
    np.testing.assert_array_equal(found, np.tile([0.5, 0.5, 1.0], (3, 1)))


def test_a_tiny_deviation_does_not_overflow(monkeypatch):
    monkeypatch.setattr(scaled, "_WORTH_A_KERNEL", 0)
    tiny = np.finfo(np.float64).smallest_subnormal
    found = all_rows(ScaledRows(MemoryRows(np.array([[tiny]])), np.zeros(1), np.full(1, tiny), 1.0))
    assert found.tolist() == [[1.0, 1.0]]
