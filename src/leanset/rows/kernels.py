"""Inner loops of reading rows, as functions of arrays only. Each has a plain NumPy twin in the tests.

NumPy needs three passes over a chunk and slow conversions for this, and several times as long.
"""

import numba
import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector

_SIGN, _REST, _EXPONENT = np.uint32(0x8000), np.uint32(0x7FFF), np.uint32(0x7C00)
_NOT_FINITE = np.uint32(0x7F800000)
_REBIASED = np.float32(2.0**112)  # between the exponents of float16 and of float32; also right for subnormal numbers


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _scale(chunk, mean, scale, last, out):  # type: ignore[no-untyped-def]
    """Set out to (chunk − mean)/scale, column by column, and its last column to `last`."""
    width = chunk.shape[1]
    for i in range(chunk.shape[0]):
        for j in range(width):
            out[i, j] = (np.float64(chunk[i, j]) - mean[j]) / scale[j]
        out[i, width] = last


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _scale_half(bits, mean, scale, last, out):  # type: ignore[no-untyped-def]
    """Do the same for float16, whose bits come as uint16, because numba has no such numbers on a CPU."""
    width = bits.shape[1]
    wider = np.empty(width, np.uint32)
    numbers = wider.view(np.float32)
    for i in range(bits.shape[0]):
        for j in range(width):
            half = np.uint32(bits[i, j])
            infinite = _NOT_FINITE if half & _EXPONENT == _EXPONENT else np.uint32(0)
            wider[j] = (half & _REST) << np.uint32(13) | (half & _SIGN) << np.uint32(16) | infinite
        for j in range(width):
            out[i, j] = (np.float64(numbers[j] * _REBIASED) - mean[j]) / scale[j]
        out[i, width] = last


def scale_into(out: Matrix, chunk: AnyArray, mean: Vector, scale: Vector, last: float) -> None:
    """Set all columns of `out` but the last to (chunk − mean)/scale, in float64, and the last one to `last`."""
    plain = np.ascontiguousarray(chunk)
    if plain.dtype == np.float16:
        _scale_half(plain.view(np.uint16), mean, scale, last, out)
    else:
        _scale(plain if plain.dtype in (np.float32, np.float64) else plain.astype(np.float64), mean, scale, last, out)
