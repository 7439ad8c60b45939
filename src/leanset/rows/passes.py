"""Passes over the rows of a table: sums and maps, in chunks, on all cores.

The function `work` gets a chunk of the table and the same rows of further columns, which are arrays with one entry (or
row) per example. Chunk boundaries depend only on the sizes and sums are taken in chunk order, so results are identical
to the last bit for any number of threads.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from leanset._arrays import AnyArray, Rows, Vector
from leanset._threads import available_threads, in_order, row_chunks
from leanset.rows.memory import MemoryRows
from leanset.rows.table import RowTable

# A chunk is gathered without its rows of weight 0 if no more than this share counts. Measured with products of a
# Hessian: gathering 0.3 / 0.6 / 0.75 / 0.9 of the rows takes 0.4 / 0.75 / 0.95 / 1.03 of the time that all rows take.
_WORTH_SKIPPING = 0.75

Sum = TypeVar("Sum", AnyArray, float, tuple[AnyArray, ...])
Work = Callable[..., Sum]


def sum_rows(work: Work[Sum], table: RowTable, *columns: AnyArray, width: int, weights: Vector | None = None) -> Sum:
    """Return the sum of `work(chunk, *columns)` over all chunks.

    Parameters
    ----------
    work : turns a chunk of rows into an array, a number, or a tuple of arrays; gets the weights, if any, as last argument
    table : the rows
    columns : arrays with one entry or row for each row of the table
    width : numbers that `work` stores per row; determines the size of the chunks
    weights : (n,) weight of each row; most rows of weight 0 are not read

    Examples
    --------
    >>> sum_rows(lambda x, y: y @ x, MemoryRows(np.eye(3)), np.array([1.0, 2.0, 3.0]), width=4).tolist()
    [1.0, 2.0, 3.0]
    >>> sum_rows(lambda x, w: w @ x, MemoryRows(np.eye(3)), width=4, weights=np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    total: Any = None
    chunks = row_chunks(len(table), width) or [slice(0, 0)]
    for part in in_order(_on_chunks(work, table, columns, weights), chunks):
        if part is not None:
            total = _own(part) if total is None else _added(total, part)
    if total is None and weights is not None:  # no row counts: the work says what a sum of nothing looks like
        total = work(table._read_rows(chunks[0]), *(column[chunks[0]] for column in columns), weights[chunks[0]])
    return total  # type: ignore[no-any-return]


def map_rows(
    work: Callable[..., AnyArray], table: RowTable, *columns: AnyArray, width: int, weights: Vector | None = None
) -> AnyArray:
    """Return `work(chunk, *columns)` of all chunks, concatenated; the arguments are those of `sum_rows`.

    The result may be 0 for rows of weight 0. `work` does not get the weights.

    Examples
    --------
    >>> map_rows(lambda x: 2 * x[:, 0], MemoryRows(np.eye(2)), width=2).tolist()
    [2.0, 0.0]
    """
    if weights is None:
        return _filled(_on_chunks(work, table, columns), len(table), width)

    def on_chunk(chunk: slice) -> AnyArray:
        rows = _counting(weights, chunk)
        part = work(table._read_rows(rows), *(column[rows] for column in columns))
        if isinstance(rows, slice):
            return part
        whole = np.zeros((chunk.stop - chunk.start, *part.shape[1:]), dtype=part.dtype)
        whole[rows - chunk.start] = part
        return whole

    return _filled(on_chunk, len(table), width)


def map_some_rows(
    work: Callable[..., AnyArray], table: RowTable, rows: Rows, *columns: AnyArray, width: int
) -> AnyArray:
    """Return `work(chunk, *columns)` for the given row numbers, in their order; see `map_rows`.

    Examples
    --------
    >>> map_some_rows(lambda x: x, MemoryRows(np.eye(3)), np.array([2, 0]), width=3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    def on_chunk(chunk: slice) -> AnyArray:
        return work(table._read_rows(rows[chunk]), *(column[rows[chunk]] for column in columns))

    return _filled(on_chunk, len(rows), width)


def some_rows(table: RowTable, rows: Rows) -> MemoryRows:
    """Return a copy of some rows as a table in memory; meant for small samples."""
    return MemoryRows(table._read_rows(rows))


def largest_in_rows(table: RowTable) -> Vector:
    """Return the largest absolute value of each column, in float64."""
    chunks = row_chunks(*table.shape)
    tops = in_order(lambda chunk: np.abs(table._read_rows(chunk)).max(axis=0), chunks)
    return np.asarray(np.max(list(tops), axis=0), dtype=np.float64)


def _on_chunks(
    work: Callable[..., Any], table: RowTable, columns: tuple[AnyArray, ...], weights: Vector | None = None
) -> Callable[[slice], Any]:
    if weights is None:
        return lambda chunk: work(table._read_rows(chunk), *(column[chunk] for column in columns))

    def on_chunk(chunk: slice) -> Any:
        rows = _counting(weights, chunk)
        if not isinstance(rows, slice) and not len(rows):
            return None
        return work(table._read_rows(rows), *(column[rows] for column in columns), weights[rows])

    return on_chunk


def _counting(weights: Vector, chunk: slice) -> slice | Rows:
    """Return the rows of a chunk with non-zero weight; all rows if skipping some would cost more than it saves."""
    rows = chunk.start + np.flatnonzero(weights[chunk])
    return chunk if len(rows) > _WORTH_SKIPPING * (chunk.stop - chunk.start) else rows


def _filled(work: Callable[[slice], AnyArray], count: int, width: int) -> AnyArray:
    chunks = row_chunks(count, width)
    out: AnyArray | None = None
    for chunk, part in zip(chunks, in_order(work, chunks), strict=True):
        if out is None:
            out = np.empty((count, *part.shape[1:]), dtype=part.dtype)
        out[chunk] = part
    return work(slice(0, 0)) if out is None else out


def _own(part: Any) -> Any:
    """Return a first part that can be added to: a view of the table must not become the sum."""
    if isinstance(part, tuple):
        return tuple(map(_own, part))
    return part.copy() if isinstance(part, np.ndarray) and part.base is not None else part


def _added(total: Any, part: Any) -> Any:
    if isinstance(total, tuple):
        return tuple(_added(one, other) for one, other in zip(total, part, strict=True))
    if isinstance(total, np.ndarray):
        total += part
        return total
    return total + part


def threads_of_pass(rows: int, width: int) -> int:
    """Return how many threads a pass over some rows keeps busy, if `width` numbers are stored per row.

    Examples
    --------
    >>> from leanset._threads import thread_count
    >>> with thread_count(4):
    ...     threads_of_pass(100, width=10), threads_of_pass(1_000_000, width=10)
    (1, 4)
    """
    return max(1, min(available_threads(), len(row_chunks(rows, width))))
