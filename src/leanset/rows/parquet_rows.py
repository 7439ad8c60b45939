"""Rows in Parquet files, read row group by row group."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset.rows.decoded import DecodedParts
from leanset.rows.table import ChosenRows, PlacedRows, RowTable

_groups = DecodedParts()


@dataclass(frozen=True)
class ParquetRows(PlacedRows):
    """The rows of the feature columns in several Parquet files.

    Attributes
    ----------
    groups : file, number of the row group in it, and number of its first row, for each row group
    columns : names of the columns
    read : decodes the columns of one row group as an array; a function of a module, because workers get it
    """

    groups: tuple[tuple[str, int, int], ...]
    columns: tuple[str, ...]
    read: Callable[[str, int, tuple[str, ...]], AnyArray]

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        if isinstance(rows, slice):
            rows = np.arange(rows.start, rows.stop)
        out = np.empty((len(rows), self._shape[1]), self._dtype)
        starts = [start for *_, start in self.groups]
        group = np.searchsorted(starts, rows, side="right") - 1
        for nth in np.unique(group).tolist():
            inside = group == nth
            out[inside] = self._group(nth)[rows[inside] - starts[nth]]
        return out

    def _group(self, nth: int) -> AnyArray:
        file, number, _ = self.groups[nth]
        return _groups.get(
            (file, self.columns, number),
            lambda: self.read(file, number, self.columns).astype(self._dtype, copy=False),
        )

    def _part(self, rows: slice | Rows) -> RowTable:
        if not isinstance(rows, slice):
            first, last = int(rows.min()), int(rows.max())
            return ChosenRows(self._part(slice(first, last + 1)), rows - first)
        starts = [start for *_, start in self.groups]
        first, last = bisect_right(starts, rows.start) - 1, bisect_right(starts, rows.stop - 1)
        base = starts[first]
        some = tuple((file, number, start - base) for file, number, start in self.groups[first:last])
        stop = starts[last] if last < len(starts) else self._shape[0]
        whole = ParquetRows((stop - base, self._shape[1]), self._dtype, some, self.columns, self.read)
        return RowTable._part(whole, slice(rows.start - base, rows.stop - base))


def parquet_rows(
    files: list[tuple[str, list[int]]],
    columns: tuple[str, ...],
    read: Callable[[str, int, tuple[str, ...]], AnyArray],
    **kind: Any,
) -> ParquetRows:
    """Return the rows of files whose row groups have known sizes; `kind` has the width and the type of the numbers."""
    groups, start = [], 0
    for file, sizes in files:
        for number, size in enumerate(sizes):
            if size:
                groups.append((file, number, start))
            start += size
    return ParquetRows((start, kind["width"]), kind["dtype"], tuple(groups), columns, read)
