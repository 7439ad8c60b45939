"""A lock on a folder that is gone with the process that holds it, however that ends."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from leanset._errors import RunFolderError
from leanset._folder import explained


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], *, wait: bool = False) -> Iterator[None]:
    """Hold a folder for oneself; create it if it is missing, and remove it again if it is still empty at the end.

    The lock is on the folder itself, so no file is left behind. The system releases it when the process ends.

    Parameters
    ----------
    path : the folder
    wait : wait until the folder is free; if False, raise if another process, or another thread, holds it

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(folder):
    ...     try:
    ...         with locked(folder):
    ...             print("never here")
    ...     except RunFolderError:
    ...         print("in use")
    in use
    """
    folder = Path(path)
    handle, made = _held(folder, wait)
    try:
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):
                folder.rmdir()  # fails if it contains anything
        os.close(handle)


def _held(folder: Path, wait: bool) -> tuple[int, bool]:
    """Return an open handle of the locked folder, and whether the folder was created for it."""
    made = False
    while True:
        with explained(folder, "create"):
            made = _created(folder) or made
        try:
            handle = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue  # another run has just removed it, because it had failed
        try:
            _take(handle, folder, wait)
            if _is_at(handle, folder):
                return handle, made
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # it was removed while we waited


def _created(folder: Path) -> bool:
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(f"{folder}: is a file, not a folder; choose another output folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


def _take(handle: int, folder: Path, wait: bool) -> None:
    try:
        import fcntl
    except ImportError:
        return  # a system without these locks
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise RunFolderError(
            f"{folder}: another run is working in this folder. Wait for it (`wait=True`), or choose another output folder."
        ) from None
    except OSError:
        return  # a file system without locks


def _is_at(handle: int, folder: Path) -> bool:
    """Return whether an open folder is still the one with this name."""
    try:
        there = os.stat(folder)
    except FileNotFoundError:
        return False
    here = os.fstat(handle)
    return stat.S_ISDIR(there.st_mode) and (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
