"""Writing a chunked store as a stream: a bounded amount of memory, and able to go on where it was stopped."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leanset._arrays import AnyArray
from leanset._errors import InputError
from leanset._threads import row_chunks
from leanset.rows.zarr_rows import ABOUT, reason, zarr_library


@dataclass
class StoreWriter:
    """Writes arrays of n rows each, chunk by chunk, all arrays together.

    Chunks have checksums. A chunk is written once, when all its rows are there; so after a stop, `done` says from which
    row on to continue. `finish` marks the store complete.

    Examples
    --------
    >>> import tempfile
    >>> from leanset.rows import ZarrRows, all_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = StoreWriter.at(f"{folder}/a.zarr", 3, {"features": ((2,), np.float32)})
    ...     writer.write(features=np.ones((2, 2)))
    ...     writer.write(features=np.zeros((1, 2)))
    ...     writer.finish()
    ...     all_rows(ZarrRows.of(f"{folder}/a.zarr", "features")).tolist()
    [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    """

    store: str
    rows: int
    step: int
    done: int
    _arrays: dict[str, Any] = field(repr=False)
    _waiting: dict[str, list[AnyArray]] = field(repr=False)

    @classmethod
    def at(
        cls, store: str, rows: int, columns: dict[str, tuple[tuple[int, ...], Any]], identity: str = ""
    ) -> "StoreWriter":
        """Create a store, or open one that was not finished.

        Parameters
        ----------
        store : path or URL
        rows : of all arrays
        columns : the further axes and the type of each array
        identity : of what is written; a store that was begun with another identity is not continued
        """
        zarr = zarr_library(store)
        from zarr.codecs import Crc32cCodec

        widest = max(int(np.prod(tail, dtype=np.int64)) for tail, _ in columns.values())
        step = row_chunks(2**16, 2 * widest)[0].stop
        arrays = {}
        try:
            group = zarr.open_group(store, mode="a", zarr_format=3)
            begun = dict(group.attrs.get(ABOUT, {"identity": identity}))
            if begun.get("identity", "") != identity:
                raise InputError(f"{store}: was begun with another network or other data; choose another place.")
            group.attrs[ABOUT] = {"complete": False, "identity": identity}
            for name, (tail, dtype) in columns.items():
                if name not in group:
                    group.create_array(
                        name,
                        shape=(rows, *tail),
                        chunks=(step, *(max(1, length) for length in tail)),
                        dtype=dtype,
                        compressors=Crc32cCodec(),
                        fill_value=np.nan if np.dtype(dtype).kind == "f" else -1,
                        config={"write_empty_chunks": True},  # or a chunk of fill values would look like a missing one
                    )
                arrays[name] = group[name]
                if arrays[name].shape != (rows, *tail) or arrays[name].dtype != np.dtype(dtype):
                    raise InputError(f"{store}: contains another `{name}`, {arrays[name].dtype} {arrays[name].shape}.")
        except InputError:
            raise
        except Exception as error:  # a store may be anywhere, and each place has errors of its own
            raise InputError(f"{store}: cannot be written: {reason(error)}.") from None
        done = min(_whole_chunks(array, step) for array in arrays.values()) * step
        return cls(store, rows, step, min(done, rows), arrays, {name: [] for name in arrays})

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays."""
        return tuple(self._arrays)

    def write(self, **parts: AnyArray) -> None:
        """Append rows to all arrays; what does not fill a chunk waits in memory."""
        for name, part in parts.items():
            self._waiting[name].append(np.asarray(part, dtype=self._arrays[name].dtype))
        waiting = sum(map(len, next(iter(self._waiting.values()))))
        while waiting >= self.step or (waiting and self.done + waiting == self.rows):
            count = min(self.step, waiting)
            for name, array in self._arrays.items():
                joined = np.concatenate(self._waiting[name])
                array[self.done : self.done + count] = joined[:count]
                self._waiting[name] = [joined[count:]]
            self.done += count
            waiting -= count

    def finish(self, **about: Any) -> None:
        """Mark the store complete, with what is known about it."""
        if self.done < self.rows:
            raise InputError(f"{self.store}: has {self.done:,} of {self.rows:,} rows.")
        finish_store(self.store, **about)


def write_rows(store: str, start: int, **parts: AnyArray) -> None:
    """Write the rows of one chunk to the arrays of a store that `StoreWriter.at` created."""
    group = zarr_library(store).open_group(store, mode="r+")
    for name, part in parts.items():
        group[name][start : start + len(part)] = np.asarray(part, dtype=group[name].dtype)


def has_rows(store: str, names: Iterable[str], rows: slice) -> bool:
    """Return whether the rows of one chunk are there in all arrays, and can be read."""
    group = zarr_library(store).open_group(store, mode="r")
    return all(_is_whole(group[name], rows) for name in names)


def finish_store(store: str, **about: Any) -> None:
    """Mark a store complete whose arrays are all written, with what is known about it."""
    group = zarr_library(store).open_group(store, mode="r+")
    group.attrs[ABOUT] = dict(group.attrs[ABOUT]) | {"complete": True} | about


def _whole_chunks(array: Any, step: int) -> int:
    """Return how many chunks from the first on are there, and can be read."""
    starts = range(0, array.shape[0], step)
    missing = (nth for nth, start in enumerate(starts) if not _is_whole(array, slice(start, start + step)))
    return next(missing, len(starts))


def _is_whole(array: Any, rows: slice) -> bool:
    # Reading asks for the checksum, too: the last chunk may have been written half when all stopped.
    try:
        part = array[rows]
    except ValueError:
        return False
    return not (np.isnan(part).all() if part.dtype.kind == "f" else (part == -1).all())
