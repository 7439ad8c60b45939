from dataclasses import dataclass, field

from leanset._arrays import AnyArray, Rows
from leanset.rows.table import RowTable


@dataclass(frozen=True)
class MemoryRows(RowTable):
    """A table that is an array in memory.

    Examples
    --------
    >>> import numpy as np
    >>> MemoryRows(np.zeros((3, 2))).shape
    (3, 2)
    """

    _array: AnyArray = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self._array.shape
        return rows, columns

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        return self._array[rows]
