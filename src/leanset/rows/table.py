import abc

from leanset._arrays import AnyArray, Rows


class RowTable(abc.ABC):
    """An (n, d) table of numbers that is read a chunk at a time, wherever it lies.

    Nobody outside this room reads a table: the passes do, so that a table on disk or on a cluster needs one more file
    here and nothing else.
    """

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @abc.abstractmethod
    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        """Return some rows: a chunk, or the rows with these numbers."""

    def __len__(self) -> int:
        return self.shape[0]
