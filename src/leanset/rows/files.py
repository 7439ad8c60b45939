import os
from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset._errors import InputError
from leanset._files import open_regular
from leanset.rows.table import PlacedRows

_WORTH_READING = 2**14  # bytes that are read along rather than to seek for the next row
_AT_ONCE = 2**26  # bytes that are read in one go for scattered rows


@dataclass(frozen=True)
class FileRows(PlacedRows):
    """The rows of an array in a file, such as an npy file; only the rows of a chunk are ever in memory.

    The file is read, not mapped: mapped pages count as memory of the process, and a file that becomes shorter while it is
    mapped ends the process with a signal.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from leanset.rows import all_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(pathlib.Path(folder, "x.npy"), np.eye(2))
    ...     all_rows(FileRows.of(np.load(pathlib.Path(folder, "x.npy"), mmap_mode="r"))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    path: str
    _offset: int

    @classmethod
    def of(cls, mapped: np.memmap) -> "FileRows":
        """Return the rows of a whole mapped array."""
        rows, columns = mapped.shape
        return cls((rows, columns), mapped.dtype, os.fspath(str(mapped.filename)), mapped.offset)

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        if isinstance(rows, slice):
            return self._read([(rows.start, rows.stop)])
        if not len(rows):
            return np.empty((0, self._shape[1]), self._dtype)
        first, last = int(rows.min()), int(rows.max())
        span = (last + 1 - first) * self._shape[1] * self._dtype.itemsize
        if span <= min(_AT_ONCE, _WORTH_READING * len(rows)):
            return self._read([(first, last + 1)])[rows - first]
        return self._read([(row, row + 1) for row in rows.tolist()])

    def _read(self, ranges: list[tuple[int, int]]) -> AnyArray:
        out = np.empty((sum(stop - start for start, stop in ranges), self._shape[1]), self._dtype)
        line, filled = self._shape[1] * self._dtype.itemsize, 0
        try:
            with open_regular(self.path) as file:
                for start, stop in ranges:
                    file.seek(self._offset + start * line)
                    part = out[filled : filled + stop - start]
                    if file.readinto(part) != part.nbytes:  # type: ignore[attr-defined]
                        raise InputError(
                            f"{self.path}: ends before row {stop - 1:,}; it was complete when it was opened."
                        )
                    filled += stop - start
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read any more: {error.strerror or error}.") from None
        return out


def is_whole_map(array: AnyArray) -> bool:
    """Return whether an array is a file mapped in row order, and not a part or a view of one."""
    whole = isinstance(array, np.memmap) and array.filename is not None and not isinstance(array.base, np.memmap)
    return bool(whole and array.ndim == 2 and array.flags.c_contiguous)
