"""Rows in a chunked store (Zarr v3), on disk or behind any URL that fsspec can open."""

import itertools
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset._errors import InputError, missing_extra
from leanset.rows.chunk_files import ChunkFiles
from leanset.rows.decoded import DecodedParts
from leanset.rows.table import PlacedRows

ABOUT = "leanset"  # attribute of a store with what is known about it
_PART_BYTES = 2**22  # of small chunks that are read together for scattered rows
_parts = DecodedParts()


@dataclass(frozen=True)
class ZarrRows(PlacedRows):
    """The rows of an array in a store; chunks are read when they are needed, and their checksums are compared."""

    store: str
    name: str

    @classmethod
    def of(cls, store: str, name: str) -> "ZarrRows":
        """Return the rows of an (n, d) array; raise if a chunk of it is missing."""
        array = opened_array(store, name)
        refuse_missing_chunks(store, name)
        rows, columns = array.shape
        return cls((rows, columns), np.dtype(array.dtype), store, name)

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        if isinstance(rows, slice):
            return self._read_slice(rows.start, rows.stop)
        chunk = self._chunk
        step = chunk * max(1, _PART_BYTES // max(1, chunk * self._shape[1] * self._dtype.itemsize))
        out, part = np.empty((len(rows), self._shape[1]), self._dtype), rows // step
        for nth in np.unique(part).tolist():
            inside = part == nth
            out[inside] = self._decoded(nth * step, step)[rows[inside] - nth * step]
        return out

    def _read_slice(self, start: int, stop: int) -> AnyArray:
        """Read consecutive rows: whole chunks at once, what sticks out from chunks that stay decoded."""
        n, step = self._shape[0], self._chunk
        first, last = -(-start // step) * step, n if stop == n else stop // step * step
        if first >= last:  # within one chunk, or across the border of two
            first = last = min(first, stop)
        found = [read_array(self.store, self.name, slice(first, last))] if first < last or start == stop else []
        if start < first:
            found.insert(0, self._decoded(start // step * step, step)[start % step :][: first - start])
        if last < stop:
            found.append(self._decoded(last, step)[: stop - last])
        return found[0] if len(found) == 1 else np.concatenate(found)

    @property
    def _chunk(self) -> int:
        """Rows of a chunk of the store, which can only be decoded as a whole."""
        return int(opened_array(self.store, self.name).chunks[0])

    def _decoded(self, start: int, step: int) -> AnyArray:
        rows = slice(start, min(start + step, self._shape[0]))
        return _parts.get(
            (self.store, self.name, rows.start, rows.stop), lambda: read_array(self.store, self.name, rows)
        )


def zarr_library(store: str = "") -> Any:
    """Return the module zarr, or say how to get it, and what it needs for the place of a store."""
    try:
        import zarr

        if is_url(store):
            import fsspec  # noqa: F401  # by which zarr reads and writes URLs
    except ImportError:
        raise missing_extra("A chunked store", "zarr") from None
    return zarr


def is_url(place: str) -> bool:
    """Return whether a place is a URL, and not a path.

    Examples
    --------
    >>> is_url("s3://bucket/a.zarr"), is_url("a.zarr")
    (True, False)
    """
    return "://" in place


def place_of(store: str | os.PathLike[str]) -> str:
    """Return the place of a store so that every process finds it: a URL as it is, a path in full."""
    place = os.fspath(store)
    return place if is_url(place) else os.path.abspath(os.path.expanduser(place))


@lru_cache(maxsize=64)
def opened_array(store: str, name: str) -> Any:
    """Open an array of a store for reading; once for each process, because that reads its description."""
    zarr = zarr_library(store)
    try:
        return zarr.open_array(store, path=name, mode="r", zarr_format=3)
    except Exception as error:  # a store may be anywhere, and each place has errors of its own
        raise InputError(f"{store}: has no readable array `{name}`: {reason(error)}.") from None


@lru_cache(maxsize=64)
def _files_of(store: str, name: str) -> ChunkFiles | None:
    return ChunkFiles.of(opened_array(store, name))


def refuse_missing_chunks(store: str, name: str) -> None:
    """Raise if chunks of an array are missing, which Zarr would read as if they contained a fill value."""
    array = opened_array(store, name)
    missing = array.nchunks - array.nchunks_initialized
    if missing:
        raise InputError(
            f"{store}: {missing:,} of the {array.nchunks:,} chunks of `{name}` are missing, so the store is not complete; "
            "write it again, or finish the capture that writes it."
        )


def read_array(store: str, name: str, rows: slice) -> AnyArray:
    """Return consecutive rows of an array; a chunk that is damaged or gone is named in the error."""
    array, files = opened_array(store, name), _files_of(store, name)
    try:
        found = np.asarray(array[rows]) if files is None else files.read(*rows.indices(array.shape[0])[:2])
    except Exception as error:  # of the codecs, of the file system, or of a network
        bad = _damaged_chunk(array, rows)
        raise InputError(f"{store}: chunk {bad} of `{name}` cannot be read: {reason(error)}.") from None
    # A chunk that is gone since the store was opened is read as fill values: NaN, in stores that leanset wrote.
    each = (slice(None), *(slice(None, None, size) for size in array.chunks[1:]))  # the first column of each chunk
    if found.dtype.kind == "f" and np.isnan(found[each]).any():
        bad = _damaged_chunk(array, rows)
        if bad:
            raise InputError(f"{store}: chunk {bad} of `{name}` is gone; it was there when the store was opened.")
    return found


def _damaged_chunk(array: Any, rows: slice) -> str:
    """Return the key of the first chunk among some rows that cannot be read or is not there; "" if all are fine."""
    sizes, there = array.shards or array.chunks, set(_keys(array))  # what is stored under one key
    stops = (array.shape[0] if rows.stop is None else rows.stop, *array.shape[1:])
    starts = (rows.start, *[0] * (array.ndim - 1))
    ranges = [range(a // size, -(-b // size)) for a, b, size in zip(starts, stops, sizes, strict=True)]
    for place in itertools.product(*ranges):
        key = array.metadata.encode_chunk_key(place)
        if key not in there:
            return str(key)
        try:
            array[tuple(slice(at * size, (at + 1) * size) for at, size in zip(place, sizes, strict=True))]
        except Exception:
            return str(key)
    return ""


def _keys(array: Any) -> list[str]:
    from zarr.core.sync import sync

    prefix = f"{array.store_path.path}/" if array.store_path.path else ""

    async def listed() -> list[str]:
        return [key.removeprefix(prefix) async for key in array.store_path.store.list_prefix(prefix)]

    return sync(listed())


def reason(error: Exception) -> str:
    """Return the first line of an error's message, or its kind."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")


@dataclass(frozen=True)
class Store:
    """What is in a store: the number of axes of each array, what is noted about it, and whether it was finished."""

    arrays: dict[str, int]
    about: dict[str, Any]
    complete: bool


def store_of(store: str) -> Store:
    """Return what is in a store; stores that others wrote have no notes, and count as complete.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = zarr_library().create_group(folder).create_array("labels", shape=3, dtype="i8")
    ...     store_of(folder).arrays
    {'labels': 1}
    """
    zarr = zarr_library(store)
    try:
        group = zarr.open_group(store, mode="r", zarr_format=3)
        arrays = {name: array.ndim for name, array in group.arrays()}
        about = dict(group.attrs.get(ABOUT, {}))
    except Exception as error:  # a store may be anywhere, and each place has errors of its own
        raise InputError(f"{store}: cannot be read as a Zarr store (version 3): {reason(error)}.") from None
    opened_array.cache_clear()  # what was open may be another store by now
    _files_of.cache_clear()
    _parts.clear()
    return Store(arrays, about, bool(about.get("complete", True)))
