"""Opening files that others made, and reading the arrays in them: every damage is one kind of error.

A file may be anything: a pipe that blocks, a device that never ends, an archive that unpacks to more than there is memory,
a header that says so. So only regular files are opened, and sizes are known before anything is allocated.
"""

import errno
import math
import os
import stat
import struct
import zipfile
from collections.abc import Collection
from typing import IO, BinaryIO

import numpy as np

from leanset._arrays import AnyArray
from leanset._memory import free_memory

_AT_ONCE = 2**20  # bytes


class DamagedFile(ValueError):
    """A file whose content cannot be read; the message is the reason, without the name of the file."""


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading if it is a regular one; raise OSError otherwise.

    Examples
    --------
    >>> open_regular(os.devnull)
    Traceback (most recent call last):
    ...
    OSError: [Errno 22] not a regular file: '/dev/null'
    """
    # Not blocking, because opening a pipe would otherwise wait for whoever writes to it.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    kind = os.fstat(handle).st_mode
    if not stat.S_ISREG(kind):
        os.close(handle)
        reason = (errno.EISDIR, "is a directory") if stat.S_ISDIR(kind) else (errno.EINVAL, "not a regular file")
        raise OSError(*reason, os.fspath(path))
    return open(handle, "rb")


def reserve(path: str | os.PathLike[str]) -> None:
    """Take the room on disk for a file that has its length but no content yet; raise OSError if there is not enough.

    Without it a full disk would end the process with a signal when the file is written through memory.
    """
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
            return
        file.seek(128)  # the header is there
        for start in range(128, size, _AT_ONCE):
            file.write(bytes(min(_AT_ONCE, size - start)))


def too_large(needed: int) -> str | None:
    """Return how much too large something is that needs so many bytes, in words; None if there is room for it."""
    free = free_memory()
    if free is None or needed <= free:
        return None
    return f"{needed / 2**20:,.0f} MiB, more than the {free / 2**20:,.0f} MiB of memory that are free"


def arrays_in(
    path: str | os.PathLike[str], wanted: Collection[str] | None = None, most: int | None = None
) -> dict[str, AnyArray]:
    """Read named arrays from an npz file, without pickled objects. Arrays that are not wanted are returned empty.

    Arrays of more than `most` bytes that are stored as they are, as `np.savez` does, are mapped and not read.

    Raises OSError if the file cannot be opened, and `DamagedFile` if it cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.npz")
    ...     np.savez(path, a=[1, 2], b=[3])
    ...     {name: array.tolist() for name, array in arrays_in(path, ["a"]).items()}
    {'a': [1, 2], 'b': []}
    """
    with open_regular(path) as file:
        if not zipfile.is_zipfile(file):
            raise DamagedFile("it is not an npz file, or a truncated one")
        try:
            with zipfile.ZipFile(file) as archive:
                names = {member: member.filename.removesuffix(".npy") for member in archive.infolist()}
                read = [member for member, name in names.items() if wanted is None or name in wanted]
                mapped = [member for member in read if _can_map(member, most)]
                excess = too_large(sum(member.file_size for member in read if member not in mapped))
                if excess is None:
                    found = {name: np.empty(0) for name in names.values()}
                    for member in read:
                        with archive.open(member) as content:
                            if member in mapped:
                                found[names[member]] = _mapped_member(path, file, content, member)
                                continue
                            found[names[member]] = np.lib.format.read_array(content, allow_pickle=False)
                    return found
        except Exception as error:  # a damaged archive can make zipfile, its decoders and NumPy raise anything
            raise DamagedFile(_reason(error)) from None
        raise DamagedFile(f"it unpacks to {excess}")


def _can_map(member: zipfile.ZipInfo, most: int | None) -> bool:
    return most is not None and member.file_size > most and member.compress_type == zipfile.ZIP_STORED


def _mapped_member(
    path: str | os.PathLike[str], file: BinaryIO, content: IO[bytes], member: zipfile.ZipInfo
) -> AnyArray:
    """Map an array that lies in an archive as it is; its header is read first, as the other arrays' headers are."""
    first = np.lib.format.read_magic(content) == (1, 0)
    header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(content)
    if dtype.hasobject or content.tell() + dtype.itemsize * math.prod(shape) > member.file_size:
        raise DamagedFile("it contains pickled objects, which are never loaded, or ends too early")
    file.seek(member.header_offset + 26)  # where the lengths of the name and of further fields are
    name, extra = struct.unpack("<HH", file.read(4))
    offset = member.header_offset + 30 + name + extra + content.tell()
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")


def mapped_array(path: str | os.PathLike[str]) -> AnyArray:
    """Map the array of an npy file into memory, so that a header's claim about the size allocates nothing.

    Raises OSError if the file cannot be opened, and `DamagedFile` if it cannot be read.
    """
    with open_regular(path):
        pass
    try:
        array: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # the header is evaluated as Python, which can fail in many ways
        raise DamagedFile(_reason(error)) from None
    if not isinstance(array, np.ndarray):
        raise DamagedFile("it is not an npy file")
    return array


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0][:160].rstrip(".") if str(error) else type(error).__name__
    if any(word in text.lower() for word in ("pickle", "python objects")):
        return "it contains pickled objects, which are never loaded"
    return text if isinstance(error, ValueError | OSError | zipfile.BadZipFile) else f"{type(error).__name__}: {text}"
