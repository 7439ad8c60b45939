import abc
from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Rows


class RowTable(abc.ABC):
    """An (n, d) table of numbers that is read in chunks, wherever it is stored.

    Only the passes of this package read tables, so a table on disk or on a cluster needs one new file here and nothing
    else. A table that is sent to another process must be small when pickled, or cut itself (`_part`) to what is needed.
    """

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    @abc.abstractmethod
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the numbers that are read."""

    @abc.abstractmethod
    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        """Return a chunk of rows, or the rows with the given numbers."""

    @property
    def _unconverted(self) -> "RowTable":
        """The same rows as they are stored, for those who turn them into float64 themselves."""
        return self

    @property
    def _inner(self) -> "RowTable | None":
        """The table that these rows are computed from row by row, which may be smaller; None if they are stored."""
        return None

    @property
    def _is_elsewhere(self) -> bool:
        """Whether reading means waiting, for a file, a store or a network."""
        return self._inner is not None and self._inner._is_elsewhere

    def _over(self, inner: "RowTable") -> "RowTable":
        """Return what is computed in the same way from other rows."""
        raise NotImplementedError(f"{type(self).__name__} has no inner table")

    def _part(self, rows: "slice | Rows") -> "RowTable":
        """Return a table of some rows, cut to what is needed for them; nothing is read."""
        if self._inner is not None:
            return self._over(self._inner._part(rows))
        return PartRows(self, rows.start, rows.stop) if isinstance(rows, slice) else ChosenRows(self, rows)

    def _chosen(self, rows: Rows) -> "RowTable":
        """Return a table of some rows, which stay where they are."""
        return ChosenRows(self, rows) if self._inner is None else self._over(self._inner._chosen(rows))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, as they are read."""
        rows, columns = self.shape
        return rows * columns * self.dtype.itemsize


@dataclass(frozen=True)
class PlacedRows(RowTable):
    """Rows in some other place, whose shape and type were learnt when it was opened."""

    _shape: tuple[int, int]
    _dtype: np.dtype[np.generic]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the numbers."""
        return self._dtype

    @property
    def _is_elsewhere(self) -> bool:
        return True


@dataclass(frozen=True)
class PartRows(RowTable):
    """Consecutive rows of a table."""

    _table: RowTable
    _start: int
    _stop: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self._stop - self._start, self._table.shape[1]

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the numbers."""
        return self._table.dtype

    @property
    def _is_elsewhere(self) -> bool:
        return self._table._is_elsewhere

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        if isinstance(rows, slice):
            return self._table._read_rows(slice(self._start + rows.start, self._start + rows.stop))
        return self._table._read_rows(rows + self._start)


@dataclass(frozen=True)
class ChosenRows(RowTable):
    """Some rows of a table, in a given order."""

    _table: RowTable
    _places: Rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self._places), self._table.shape[1]

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the numbers."""
        return self._table.dtype

    @property
    def _is_elsewhere(self) -> bool:
        return self._table._is_elsewhere

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        return self._table._read_rows(self._places[rows])

    def _part(self, rows: slice | Rows) -> RowTable:
        return self._table._part(self._places[rows])
