from dataclasses import dataclass, field

import numpy as np

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

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the numbers."""
        return self._array.dtype

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        return self._array[rows]

    def _part(self, rows: slice | Rows) -> RowTable:
        return MemoryRows(self._array[rows])


def as_table(features: AnyArray | RowTable) -> RowTable:
    """Return features as a table.

    Examples
    --------
    >>> import numpy as np
    >>> as_table(np.zeros((3, 2))).shape
    (3, 2)
    """
    return features if isinstance(features, RowTable) else MemoryRows(features)
