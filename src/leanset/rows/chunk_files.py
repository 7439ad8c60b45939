"""Chunks of a store on this machine, read as the files that they are.

Zarr reads every chunk through an event loop in a thread of its own, which takes longer than a file that the system has in
memory, and in which all threads of a pass wait for one another. So files of the plain kind that leanset writes, whole rows
with a checksum and not compressed, are read by the thread that needs them. All other stores are read by Zarr.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import AnyArray

_PLAIN = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
_CHECKSUM_BYTES = 4


@dataclass(frozen=True)
class ChunkFiles:
    """The files of one array: each has `step` whole rows, also the last one, and a checksum."""

    folder: Path
    keys: Any  # the array's own names of its chunks
    step: int
    tail: tuple[int, ...]
    dtype: np.dtype[np.generic]

    @classmethod
    def of(cls, array: Any) -> "ChunkFiles | None":
        """Return the files of an open Zarr array; None if they are elsewhere, or of another kind."""
        root, about = getattr(array.store_path.store, "root", None), array.metadata.to_dict()
        whole_rows = tuple(array.chunks[1:]) == tuple(array.shape[1:])
        if not isinstance(root, Path) or not whole_rows or [dict(each) for each in about["codecs"]] != _PLAIN:
            return None
        folder, dtype = root / array.store_path.path, np.dtype(array.dtype).newbyteorder("<")
        return cls(folder, array.metadata.encode_chunk_key, int(array.chunks[0]), tuple(array.shape[1:]), dtype)

    def read(self, start: int, stop: int) -> AnyArray:
        """Return consecutive rows; raise OSError or ValueError if a file is gone or damaged."""
        first, last = start // self.step, -(-stop // self.step)
        if last - first == 1:
            return self._chunk(first)[start - first * self.step : stop - first * self.step]
        found = np.empty((stop - start, *self.tail), self.dtype)
        for nth in range(first, last):
            begin, end = max(start, nth * self.step), min(stop, (nth + 1) * self.step)
            found[begin - start : end - start] = self._chunk(nth)[begin - nth * self.step : end - nth * self.step]
        return found

    def _chunk(self, nth: int) -> AnyArray:
        import google_crc32c  # comes with zarr, which opened the array

        content = (self.folder / self.keys((nth, *(0 for _ in self.tail)))).read_bytes()
        found, checksum = np.frombuffer(content, np.uint8)[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
        if google_crc32c.value(found) != int.from_bytes(checksum, "little"):
            raise ValueError("its checksum is wrong")
        return found.view(self.dtype).reshape(self.step, *self.tail)
