from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset.rows.table import RowTable

_WORTH_A_KERNEL = 2**17  # numbers of a chunk


@dataclass(frozen=True)
class ScaledRows(RowTable):
    """The rows of a table less `mean`, divided by `scale`, in float64, with a column of one number appended.

    They are scaled each time they are read, so that a table that does not fit into memory needs no scaled copy.

    Examples
    --------
    >>> from leanset.rows import MemoryRows, all_rows
    >>> all_rows(ScaledRows(MemoryRows(np.array([[1.0], [3.0]])), np.array([2.0]), np.array([2.0]), 1.0)).tolist()
    [[-0.5, 1.0], [0.5, 1.0]]
    """

    table: RowTable
    mean: Vector
    scale: Vector
    last: float

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self.table.shape
        return rows, columns + 1

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the numbers."""
        return np.dtype(np.float64)

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        chunk = self.table._unconverted._read_rows(rows)
        out: Matrix = np.empty((len(chunk), len(self.mean) + 1))
        if chunk.size >= _WORTH_A_KERNEL:
            from leanset.rows.kernels import scale_into  # imports numba, which takes longer than small rows do

            scale_into(out, chunk, self.mean, self.scale, self.last)
        else:
            np.subtract(chunk, self.mean, out=out[:, :-1])
            out[:, :-1] /= self.scale
            out[:, -1] = self.last
        return out

    @property
    def _inner(self) -> RowTable:
        return self.table

    def _over(self, inner: RowTable) -> RowTable:
        return ScaledRows(inner, self.mean, self.scale, self.last)
