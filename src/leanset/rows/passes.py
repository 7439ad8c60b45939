"""Passes over the rows of a table: sums and maps, in chunks, on all cores or on the workers of a cluster.

The function `work` gets a chunk of the table and the same rows of further columns. Rows are cut into blocks of one size,
and these into chunks that depend on the width of the work only. Sums are taken chunk by chunk within a block, then block by
block in groups of a fixed size. So results are identical to the last bit for any number of threads and workers, and
wherever the rows are stored.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from leanset._arrays import AnyArray, Rows, Vector
from leanset._threads import available_threads, in_order, row_chunks
from leanset.rows.columns import Column, in_chunk
from leanset.rows.engine import Pass, engine
from leanset.rows.memory import MemoryRows
from leanset.rows.ordered import BLOCK_ROWS, OrderedSum, blocks_in, summed
from leanset.rows.table import RowTable
from leanset.rows.watch import watched_rows

# A chunk is gathered without its rows of weight 0 if no more than this share counts. Measured with products of a
# Hessian: gathering 0.3 / 0.6 / 0.75 / 0.9 of the rows takes 0.4 / 0.75 / 0.95 / 1.03 of the time that all rows take.
_WORTH_SKIPPING = 0.75

Sum = TypeVar("Sum", AnyArray, float, tuple[AnyArray, ...])
Work = Callable[..., Sum]


def sum_rows(work: Work[Sum], table: RowTable, *columns: Column, width: int, weights: Vector | None = None) -> Sum:
    """Return the sum of `work(chunk, *columns)` over all chunks.

    Parameters
    ----------
    work : turns a chunk of rows into an array, a number, or a tuple of arrays; gets the weights, if any, as last argument
    table : the rows
    columns : arrays with one entry or row for each row of the table, or what is derived from its rows
    width : numbers that `work` stores per row; determines the size of the chunks
    weights : (n,) weight of each row; most rows of weight 0 are not read

    Examples
    --------
    >>> sum_rows(lambda x, y: y @ x, MemoryRows(np.eye(3)), np.array([1.0, 2.0, 3.0]), width=4).tolist()
    [1.0, 2.0, 3.0]
    >>> sum_rows(lambda x, w: w @ x, MemoryRows(np.eye(3)), width=4, weights=np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    if not len(table):
        return work(*_arguments(table, slice(0, 0), columns, weights))  # which says what a sum of nothing looks like
    cluster, whole = engine(), Pass(work, table, columns, weights, width)
    total = _summed_here(whole) if cluster is None else cluster.summed(_sum_of_block, whole)
    if total is None:  # no row counts
        return work(*_arguments(table, slice(0, min(64, len(table))), columns, weights))
    return total  # type: ignore[no-any-return]


def _summed_here(whole: Pass) -> Any:
    rows = len(whole.table)
    chunks, total, block = row_chunks(rows, whole.width), OrderedSum(), None
    parts = in_order(_on_chunks(whole), chunks, waits=whole.table._is_elsewhere)
    for chunk, part in watched_rows(zip(chunks, parts, strict=True), chunks):
        block = summed((block, part))
        if chunk.stop % BLOCK_ROWS == 0 or chunk.stop == rows:
            total.add(block)
            block = None
    return total.total()


def _sum_of_block(block: Pass) -> Any:
    """Return the sum over the chunks of one block of rows; None if no row counts."""
    return summed(map(_on_chunks(block), row_chunks(len(block.table), block.width)))


def map_rows(
    work: Callable[..., AnyArray], table: RowTable, *columns: Column, width: int, weights: Vector | None = None
) -> AnyArray:
    """Return `work(chunk, *columns)` of all chunks, concatenated; the arguments are those of `sum_rows`.

    The result may be 0 for rows of weight 0. `work` does not get the weights.

    Examples
    --------
    >>> map_rows(lambda x: 2 * x[:, 0], MemoryRows(np.eye(2)), width=2).tolist()
    [2.0, 0.0]
    """
    cluster, whole = engine(), Pass(work, table, columns, weights, width)
    if cluster is not None and len(table):
        return _filled(cluster.mapped(_map_of_block, whole), blocks_in(len(table)))
    return _map_of_block(whole)


def kept_rows(
    work: Callable[..., AnyArray], table: RowTable, *columns: Column, width: int, weights: Vector | None = None
) -> Column:
    """Return `map_rows` of the same arguments as a column for further passes; on a cluster it stays with the workers."""
    cluster = engine()
    if cluster is not None and len(table):
        return cluster.kept(_map_of_block, Pass(work, table, columns, weights, width))
    return map_rows(work, table, *columns, width=width, weights=weights)


def _map_of_block(block: Pass) -> AnyArray:
    """Return the map of all rows of a table, or of one block of it."""

    def on_chunk(chunk: slice) -> AnyArray:
        rows = chunk if block.weights is None else _counting(block.weights, chunk)
        part: AnyArray = block.work(*_arguments(block.table, rows, block.columns, None))
        if isinstance(rows, slice):
            return part
        whole = np.zeros((chunk.stop - chunk.start, *part.shape[1:]), dtype=part.dtype)
        whole[rows - chunk.start] = part
        return whole

    return _mapped(on_chunk, len(block.table), block.width, waits=block.table._is_elsewhere)


def map_some_rows(work: Callable[..., AnyArray], table: RowTable, rows: Rows, *columns: Column, width: int) -> AnyArray:
    """Return `work(chunk, *columns)` for the given row numbers, in their order; see `map_rows`.

    Examples
    --------
    >>> map_some_rows(lambda x: x, MemoryRows(np.eye(3)), np.array([2, 0]), width=3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    def on_chunk(chunk: slice) -> AnyArray:
        return work(*_arguments(table, rows[chunk], columns, None))

    return _mapped(on_chunk, len(rows), width, waits=table._is_elsewhere)


def some_rows(table: RowTable, rows: Rows) -> MemoryRows:
    """Return a copy of some rows as a table in memory; meant for small samples."""
    return MemoryRows(map_some_rows(_itself, table, rows, width=table.shape[1]))


def gathered(table: RowTable, rows: Rows, most: int) -> RowTable:
    """Return a table of some rows, for work that passes over them many times.

    It is a copy if that takes at most `most` bytes, else a copy of what its rows are computed from, else no copy: they are
    read where they are. On a cluster a copy stays with the workers. What a pass over it finds is the same to the last bit.

    Examples
    --------
    >>> all_rows(gathered(MemoryRows(np.eye(3)), np.array([2, 0]), 2**10)).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    cluster, width = engine(), table.shape[1]
    if len(rows) * width * table.dtype.itemsize > most:
        inner = table._inner
        return table._chosen(rows) if inner is None else table._over(gathered(inner, rows, most))
    if cluster is not None and len(rows):
        return cluster.kept(_map_of_block, Pass(_itself, table._chosen(rows), (), None, width))
    return some_rows(table, rows)


def _itself(x: AnyArray) -> AnyArray:
    return x


def all_rows(table: RowTable) -> AnyArray:
    """Return all rows as an array in memory; meant for tables that fit."""
    return table._array if isinstance(table, MemoryRows) else map_rows(_itself, table, width=table.shape[1])


def some_entries(column: Column, table: RowTable, rows: Rows) -> AnyArray:
    """Return the entries of a column for some rows of its table."""
    if isinstance(column, np.ndarray):
        return column[rows]
    return map_some_rows(lambda x, entries: entries, table, rows, column, width=table.shape[1])


def blocks_of(table: RowTable) -> Iterator[AnyArray]:
    """Yield the rows of a table block by block, in order."""
    for chunk in row_chunks(*table.shape):
        yield table._read_rows(chunk)


def largest_in_rows(table: RowTable) -> Vector:
    """Return the largest absolute value of each column, in float64."""
    tops = map_block_wise(lambda x: np.abs(x).max(axis=0)[None], table)
    return np.asarray(tops.max(axis=0), dtype=np.float64)


def map_block_wise(work: Callable[[AnyArray], AnyArray], table: RowTable) -> AnyArray:
    """Return `work(chunk)`, one row for each chunk, stacked; for what is no sum, such as a maximum."""
    cluster, whole = engine(), Pass(work, table, (), None, table.shape[1])
    if cluster is not None and len(table):
        return np.concatenate(list(cluster.mapped(_stack_of_block, whole)))
    return _stack_of_block(whole)


def _stack_of_block(block: Pass) -> AnyArray:
    chunks = row_chunks(len(block.table), block.width)
    return np.concatenate(list(in_order(_on_chunks(block), chunks, waits=block.table._is_elsewhere)))


def _on_chunks(whole: Pass) -> Callable[[slice], Any]:
    weights = whole.weights

    def on_chunk(chunk: slice) -> Any:
        rows = chunk if weights is None else _counting(weights, chunk)
        if not isinstance(rows, slice) and not len(rows):
            return None
        return whole.work(*_arguments(whole.table, rows, whole.columns, weights))

    return on_chunk


def _arguments(
    table: RowTable, rows: slice | Rows, columns: tuple[Column, ...], weights: Vector | None
) -> list[AnyArray]:
    x = table._read_rows(rows)
    entries = [in_chunk(column, x, rows) for column in columns]
    return [x, *entries] if weights is None else [x, *entries, weights[rows]]


def _counting(weights: Vector, chunk: slice) -> slice | Rows:
    """Return the rows of a chunk with non-zero weight; all rows if skipping some would cost more than it saves."""
    rows = chunk.start + np.flatnonzero(weights[chunk])
    return chunk if len(rows) > _WORTH_SKIPPING * (chunk.stop - chunk.start) else rows


def _mapped(work: Callable[[slice], AnyArray], count: int, width: int, *, waits: bool) -> AnyArray:
    chunks = row_chunks(count, width)
    return _filled(in_order(work, chunks, waits=waits), chunks) if chunks else work(slice(0, 0))


def _filled(parts: Iterable[AnyArray], chunks: list[slice]) -> AnyArray:
    """Write parts as they come into one array, so that no second copy of them all is needed."""
    out: AnyArray | None = None
    for chunk, part in watched_rows(zip(chunks, parts, strict=True), chunks):
        if out is None:
            out = np.empty((chunks[-1].stop, *part.shape[1:]), dtype=part.dtype)
        out[chunk] = part
    assert out is not None  # there is at least one chunk
    return out


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
