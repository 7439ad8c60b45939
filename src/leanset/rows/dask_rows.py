from dataclasses import dataclass
from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset.rows.table import RowTable


@dataclass(frozen=True)
class DaskRows(RowTable):
    """The rows of a dask.array. On a cluster its blocks are computed once and stay with the workers."""

    _array: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self._array.shape
        return int(rows), int(columns)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the numbers."""
        kind: np.dtype[np.generic] = np.dtype(self._array.dtype)
        return kind

    @property
    def _is_elsewhere(self) -> bool:
        return True

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        return np.asarray(self._array[rows].compute(scheduler="threads"))

    def _chosen(self, rows: Rows) -> RowTable:
        return DaskRows(self._array[rows])

    def futures(self, client: Any, rows: int) -> list[Any]:
        """Return blocks of so many rows as futures of a client."""
        blocks = self._array.rechunk((rows, -1)).to_delayed().reshape(-1)
        return list(client.compute(list(blocks)))


def is_dask_array(value: Any) -> bool:
    """Return whether something is a dask.array; whoever has one has imported it."""
    return type(value).__module__.startswith("dask.array") and hasattr(value, "to_delayed")
