import abc

from leanset._arrays import AnyArray, Rows


class RowTable(abc.ABC):
    """An (n, d) table of numbers that is read in chunks, wherever it is stored.

    Only the passes of this package read tables, so a table on disk or on a cluster needs one new file here and nothing
    else.
    """

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @abc.abstractmethod
    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        """Return a chunk of rows, or the rows with the given numbers."""

    def __len__(self) -> int:
        return self.shape[0]
