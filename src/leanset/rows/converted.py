from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset.rows.table import RowTable


@dataclass(frozen=True)
class ConvertedRows(RowTable):
    """The rows of a table as numbers of a wider type, so that no digit changes.

    Examples
    --------
    >>> from leanset.rows import MemoryRows, all_rows
    >>> all_rows(ConvertedRows(MemoryRows(np.eye(1, dtype=np.float16)), np.dtype(np.float32))).dtype
    dtype('float32')
    """

    _table: RowTable
    _dtype: np.dtype[np.generic]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self._table.shape

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the numbers."""
        return self._dtype

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        return self._table._read_rows(rows).astype(self._dtype, copy=False)

    @property
    def _unconverted(self) -> RowTable:
        return self._table

    @property
    def _inner(self) -> RowTable:
        return self._table

    def _over(self, inner: RowTable) -> RowTable:
        return ConvertedRows(inner, self._dtype)
