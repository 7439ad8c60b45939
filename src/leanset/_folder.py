"""A folder of files in plain formats.

Each is written under a temporary name and moved into place, so a reader never sees a partial one.
"""

import contextlib
import csv
import io
import itertools
import json
import os
import platform
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset._errors import RunFolderError
from leanset._files import DamagedFile, arrays_in, open_regular
from leanset._kinds import Kind, check_kinds

# Who is writing a file: what names this machine, and the process. The name of a machine may hold anything.
_WRITER, _WRITTEN = f"{zlib.crc32(platform.node().encode()):08x}", itertools.count()


class Folder:
    """Files of known formats in one folder; each is written completely or not at all."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        return (self.path / name).is_file()

    def write_arrays(self, name: str, **arrays: AnyArray) -> None:
        """Write named arrays as an npz file."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        self.write_bytes(name, buffer.getvalue())

    def read_arrays(self, name: str) -> dict[str, AnyArray]:
        """Read named arrays from an npz file."""
        try:
            with explained(self.path / name, "read"):
                return arrays_in(self.path / name)
        except DamagedFile as error:
            raise RunFolderError(f"{self.path / name}: is damaged ({error}).") from None

    def write_rows(self, name: str, rows: Rows) -> None:
        """Write row numbers, one per line."""
        self.write_bytes(name, "".join(f"{row}\n" for row in rows.tolist()).encode())

    def read_rows(self, name: str) -> Rows:
        """Read row numbers, one per line."""
        try:
            return rows_in(self.read_text(name))
        except (ValueError, OverflowError):
            raise RunFolderError(f"{self.path / name}: must contain one row number per line.") from None

    def write_json(self, name: str, values: dict[str, Any]) -> None:
        """Write a dict as JSON; infinity and NaN, which JSON lacks, become null."""
        self.write_bytes(name, (json.dumps(json_safe(values), indent=2, ensure_ascii=False) + "\n").encode())

    def read_json(self, name: str, needs: Iterable[str] | Mapping[str, Kind] = ()) -> dict[str, Any]:
        """Read a dict from JSON; raise if a key of `needs` is missing, or is not of the kind that it says."""
        try:
            values = json.loads(self.read_text(name))
        except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and lists within lists
            raise RunFolderError(f"{self.path / name}: is not valid JSON ({error}).") from None
        if not isinstance(values, dict):
            raise RunFolderError(f"{self.path / name}: must contain a JSON object.")
        missing = [key for key in needs if key not in values]
        if missing:
            raise RunFolderError(
                f"{self.path / name}: does not contain {in_words(missing)}; is it by another version of leanset?"
            )
        if isinstance(needs, Mapping):
            check_kinds(values, needs, str(self.path / name))
        return values

    def write_csv(self, name: str, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
        """Write rows as CSV with a header line."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([tuple(columns), *rows])
        self.write_text(name, text.getvalue())

    def write_text(self, name: str, text: str) -> None:
        """Write text."""
        self.write_bytes(name, text.encode())

    def read_text(self, name: str) -> str:
        """Read text."""
        with explained(self.path / name, "read"), open_regular(self.path / name) as file:
            content = file.read()
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise RunFolderError(
                f"{self.path / name}: is not UTF-8 text ({error.reason} at byte {error.start})."
            ) from None

    def write_table(self, name: str, columns: dict[str, Any]) -> None:
        """Write columns as a parquet table."""
        import pyarrow as pa  # here, because it takes a third of leanset's start-up time and only saved runs need it
        import pyarrow.parquet as pq

        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer, compression="zstd")
        self.write_bytes(name, buffer.getvalue())

    def read_table(self, name: str, needs: Mapping[str, str] | None = None) -> dict[str, AnyArray]:
        """Read the columns of a parquet table; raise if one of `needs` is missing or of another kind (NumPy's letters)."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with explained(self.path / name, "read"), open_regular(self.path / name) as file:
                table = pq.ParquetFile(file).read()
                table.validate(full=True)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise RunFolderError(f"{self.path / name}: is not a parquet file ({error}).") from None
        if len(set(table.column_names)) < table.num_columns:
            raise RunFolderError(f"{self.path / name}: has several columns of one name.")
        found = {column: table[column].to_numpy() for column in table.column_names}
        for column, kinds in (needs or {}).items():
            if column not in found:
                raise RunFolderError(f"{self.path / name}: has no column `{column}`.")
            if found[column].dtype.kind not in kinds:
                raise RunFolderError(f"{self.path / name}: column `{column}` cannot be {table[column].type}.")
        return found

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write a file under a temporary name and move it into place; what killed writers of the same file left goes."""
        target = self.path / name
        with explained(target, "write"):
            target.parent.mkdir(parents=True, exist_ok=True)
            _sweep(target.parent, re.escape(target.name))
            temporary = target.with_name(f".{target.name}.{_WRITER}-{os.getpid()}-{next(_WRITTEN)}")
            try:
                with open(temporary, "xb") as file:  # with the rights that the user's umask leaves
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise

    def sweep(self, *parts: str) -> None:
        """Delete what processes of this machine that are gone were writing, in this folder and in some of its parts."""
        for folder in (self.path, *(self.path / part for part in parts)):
            if folder.is_dir():
                _sweep(folder)


def _sweep(folder: Path, name: str = ".+") -> None:
    """Delete what processes of this machine that are gone were writing in a folder: files with a name, a pattern."""
    temporary = re.compile(rf"\.{name}\.{_WRITER}-([0-9]+)-[0-9]+")
    for item in folder.iterdir():
        written = temporary.fullmatch(item.name)
        if written and not _is_running(int(written[1])):
            with contextlib.suppress(OSError):  # the folder may be for reading only
                item.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is somebody else's
    return True


def rows_in(text: str) -> Rows:
    """Return the row numbers in a text, one per line; raise ValueError or OverflowError if it contains anything else."""
    return np.array([int(line) for line in text.split()], dtype=np.int64)


@contextlib.contextmanager
def explained(path: Path, verb: str) -> Iterator[None]:
    """Turn an OSError into a RunFolderError that names the file."""
    try:
        yield
    except OSError as error:
        if isinstance(error, RunFolderError):
            raise
        raise RunFolderError(f"{path}: cannot {verb}: {error.strerror or error}.") from None


def in_words(keys: list[str]) -> str:
    """Join the keys of an identity for a sentence."""
    readable = ["data" if key == "data_fingerprint" else f"`{key}`" for key in keys]
    return readable[0] if len(readable) == 1 else f"{', '.join(readable[:-1])} and {readable[-1]}"


def json_safe(value: Any) -> Any:
    """Return plain values with None for infinity and NaN, which JSON lacks.

    Examples
    --------
    >>> json_safe({"rows": (1, float("nan"))})
    {'rows': [1, None]}
    """
    if isinstance(value, dict):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
