"""Convolutions by Winograd's method: 36 products for 16 outputs of a 3×3 filter, where the definition takes 144.

An image is cut into tiles of 4×4 outputs. Each reads 6×6 inputs x, and with constant matrices A, B and G its outputs are
Aᵀ [(G f Gᵀ) ⊙ (Bᵀ x B)] A for a filter f. Summed over channels, the products ⊙ of all tiles are 36 products of matrices,
which BLAS computes. The method is Winograd's (1980), its use in networks Lavin and Gray's (2016, arXiv:1509.09308).

Images are (n, height, width, channels), so that every sum runs over neighbouring numbers. Each loop writes one row only: the
compiler then needs few checks that rows do not overlap, and uses vector instructions.
"""

from typing import TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

Images: TypeAlias = NDArray[np.float32]

SIDE = 4  # outputs of a tile
PRODUCTS = (SIDE + 2) ** 2
_TILES = 256  # at a time: many enough for BLAS, few enough for the cache
_APART = 5  # rows between two products, so that their addresses do not fall into the same lines of the cache

_2, _4, _5, _8 = np.float32(2), np.float32(4), np.float32(5), np.float32(8)
_compiled = numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")


@_compiled
def _inputs_six(p, q, r, s, t, u, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Multiply by Bᵀ: six rows from six."""
    n = len(a)
    for i in range(n):
        p[i] = _4 * a[i] - _5 * c[i] + e[i]
    for i in range(n):
        q[i] = d[i] + e[i] - _4 * (b[i] + c[i])
    for i in range(n):
        r[i] = e[i] - d[i] + _4 * (b[i] - c[i])
    for i in range(n):
        s[i] = e[i] - c[i] + _2 * (d[i] - b[i])
    for i in range(n):
        t[i] = e[i] - c[i] + _2 * (b[i] - d[i])
    for i in range(n):
        u[i] = _4 * b[i] - _5 * d[i] + f[i]


@_compiled
def _outputs_four(p, q, r, s, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Multiply by Aᵀ: four rows from six."""
    n = len(a)
    for i in range(n):
        p[i] = a[i] + b[i] + c[i] + d[i] + e[i]
    for i in range(n):
        q[i] = b[i] - c[i] + _2 * (d[i] - e[i])
    for i in range(n):
        r[i] = b[i] + c[i] + _4 * (d[i] + e[i])
    for i in range(n):
        s[i] = b[i] - c[i] + _8 * (d[i] - e[i]) + f[i]


@_compiled
def _gradients_six(p, q, r, s, t, u, a, b, c, d):  # type: ignore[no-untyped-def]
    """Multiply by A: six rows from four."""
    n = len(a)
    for i in range(n):
        p[i] = a[i]
    for i in range(n):
        q[i] = a[i] + b[i] + c[i] + d[i]
    for i in range(n):
        r[i] = a[i] - b[i] + c[i] - d[i]
    for i in range(n):
        s[i] = a[i] + _2 * b[i] + _4 * c[i] + _8 * d[i]
    for i in range(n):
        t[i] = a[i] - _2 * b[i] + _4 * c[i] - _8 * d[i]
    for i in range(n):
        u[i] = d[i]


@_compiled
def _tiles_along(size):  # type: ignore[no-untyped-def]
    return (size + SIDE - 1) // SIDE


@_compiled
def _cut_inputs(images, padded, rows, tiles):  # type: ignore[no-untyped-def]
    """Set `tiles[:, t]` to Bᵀ x B for every tile t; `padded` has zeros at its edges, `rows` is scratch."""
    n, height, width, _ = images.shape
    flat = padded.reshape(padded.shape[0], -1)
    flat_rows = rows.reshape(6, -1)
    t = 0
    for image in range(n):
        padded[1 : height + 1, 1 : width + 1] = images[image]
        for y in range(0, height, SIDE):
            _inputs_six(
                flat_rows[0], flat_rows[1], flat_rows[2], flat_rows[3], flat_rows[4], flat_rows[5],
                flat[y], flat[y + 1], flat[y + 2], flat[y + 3], flat[y + 4], flat[y + 5],
            )  # fmt: skip
            for x in range(0, width, SIDE):
                for i in range(6):
                    k = 6 * i
                    _inputs_six(
                        tiles[k, t], tiles[k + 1, t], tiles[k + 2, t], tiles[k + 3, t], tiles[k + 4, t], tiles[k + 5, t],
                        rows[i, x], rows[i, x + 1], rows[i, x + 2], rows[i, x + 3], rows[i, x + 4], rows[i, x + 5],
                    )  # fmt: skip
                t += 1
    return t


@_compiled
def _cut_gradients(images, padded, rows, tiles):  # type: ignore[no-untyped-def]
    """Set `tiles[:, t]` to A y Aᵀ for every tile t of the gradients y of outputs."""
    n, height, width, _ = images.shape
    flat = padded.reshape(padded.shape[0], -1)
    flat_rows = rows.reshape(6, -1)
    t = 0
    for image in range(n):
        padded[:height, :width] = images[image]
        for y in range(0, height, SIDE):
            _gradients_six(
                flat_rows[0], flat_rows[1], flat_rows[2], flat_rows[3], flat_rows[4], flat_rows[5],
                flat[y], flat[y + 1], flat[y + 2], flat[y + 3],
            )  # fmt: skip
            for x in range(0, width, SIDE):
                for i in range(6):
                    k = 6 * i
                    _gradients_six(
                        tiles[k, t], tiles[k + 1, t], tiles[k + 2, t], tiles[k + 3, t], tiles[k + 4, t], tiles[k + 5, t],
                        rows[i, x], rows[i, x + 1], rows[i, x + 2], rows[i, x + 3],
                    )  # fmt: skip
                t += 1
    return t


@_compiled
def _join_outputs(tiles, halves, rows, images):  # type: ignore[no-untyped-def]
    """Set images to the outputs Aᵀ m A of the tiles; `halves` and `rows` are scratch."""
    n, height, width, _ = images.shape
    t = 0
    for image in range(n):
        for y in range(0, height, SIDE):
            for x in range(0, width, SIDE):
                for j in range(6):
                    _outputs_four(
                        halves[j, 0], halves[j, 1], halves[j, 2], halves[j, 3],
                        tiles[j, t], tiles[6 + j, t], tiles[12 + j, t], tiles[18 + j, t], tiles[24 + j, t], tiles[30 + j, t],
                    )  # fmt: skip
                for i in range(min(SIDE, height - y)):
                    _outputs_four(
                        rows[0], rows[1], rows[2], rows[3],
                        halves[0, i], halves[1, i], halves[2, i], halves[3, i], halves[4, i], halves[5, i],
                    )  # fmt: skip
                    for j in range(min(SIDE, width - x)):
                        images[image, y + i, x + j] = rows[j]
                t += 1


@_compiled
def convolve(images: Images, filters: Images, outputs: Images) -> None:
    """Set `outputs` (n, h, w, d) to the convolution of `images` (n, h, w, c), with zeros around them.

    Parameters
    ----------
    images, outputs : float32, contiguous
    filters : (36, c, d), G f Gᵀ of each filter
    """
    n, height, width, c = images.shape
    d = outputs.shape[3]
    down, across = _tiles_along(height), _tiles_along(width)
    block = max(1, _TILES // (down * across))
    padded = np.zeros((SIDE * down + 2, SIDE * across + 2, c), np.float32)
    rows = np.empty((6, SIDE * across + 2, c), np.float32)
    tiles = np.empty((PRODUCTS, block * down * across + _APART, c), np.float32)
    products = np.empty((PRODUCTS, block * down * across + _APART, d), np.float32)
    halves, quarter = np.empty((6, SIDE, d), np.float32), np.empty((SIDE, d), np.float32)
    for first in range(0, n, block):
        count = _cut_inputs(images[first : first + block], padded, rows, tiles)
        for k in range(PRODUCTS):
            np.dot(tiles[k, :count], filters[k], products[k, :count])
        _join_outputs(products, halves, quarter, outputs[first : first + block])


@_compiled
def filter_gradients(images: Images, gradients: Images) -> Images:
    """Return the gradient (36, c, d) of the tiled filters, from images (n, h, w, c) and gradients of outputs (n, h, w, d)."""
    n, height, width, c = images.shape
    d = gradients.shape[3]
    down, across = _tiles_along(height), _tiles_along(width)
    block = max(1, _TILES // (down * across))
    padded = np.zeros((SIDE * down + 2, SIDE * across + 2, c), np.float32)
    cropped = np.zeros((SIDE * down, SIDE * across, d), np.float32)
    rows = np.empty((6, SIDE * across + 2, c), np.float32)
    gradient_rows = np.empty((6, SIDE * across, d), np.float32)
    tiles = np.empty((PRODUCTS, block * down * across + _APART, c), np.float32)
    gradient_tiles = np.empty((PRODUCTS, block * down * across + _APART, d), np.float32)
    product, total = np.empty((c, d), np.float32), np.zeros((PRODUCTS, c, d), np.float32)
    for first in range(0, n, block):
        count = _cut_inputs(images[first : first + block], padded, rows, tiles)
        _cut_gradients(gradients[first : first + block], cropped, gradient_rows, gradient_tiles)
        for k in range(PRODUCTS):
            np.dot(tiles[k, :count].T, gradient_tiles[k, :count], product)
            total[k] += product
    return total
