"""The manifest of a run folder: the SHA-256 digest of every file that belongs to the run."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the digests of files by name; a name of a folder stands for all files below it, and a missing one for none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("")
    ...     [(name, digest[:8]) for name, digest in digests(Path(folder), ["a.txt", "b"]).items()]
    [('a.txt', 'e3b0c442')]
    """
    found = (file for name in names for file in _files(folder / name))
    return {file.relative_to(folder).as_posix(): _digest(file) for file in found}


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    return [path] if path.is_file() else []


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
