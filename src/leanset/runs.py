"""The run folder: its files, how they are written, and when an earlier result can be reused.

Every file is written under a temporary name and moved into place, so a reader never sees a partial one. During a run,
finished stages are kept in `stages/`; they belong to the data and settings in `stages/settings.json`, whose digest each of
them carries, and are deleted when the final files are complete. Only one run at a time works in a folder (`_lock.py`).
"""

import contextlib
import csv
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset._errors import RunFolderError

KEPT, REMOVED, DROPPED = "kept.txt", "removed.txt", "dropped.txt"
KEPT_CSV, REMOVED_CSV = "kept.csv", "removed.csv"
SELECTION = "selection.parquet"
CERTIFICATE = "certificate.json"
SETTINGS = "settings.json"
SOURCE = "source.json"  # where the data were read from, and how
FRONTIER = "frontier.csv"
REPORT = "report.html"
NETWORK = "network"  # sub-folder of the trained network; stays when the run is replaced
STAGES = "stages"
_IN_PROGRESS = f"{STAGES}/{SETTINGS}"
_OWN_KEYS = {"budget", "data_fingerprint", "leanset_version"}
_OWN_STAGES = re.compile(r"(head|trusted|removal-.*|random-.*)\.npz|\..*")  # the last are files that were being written


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
            with explained(self.path / name, "read"), np.load(self.path / name, allow_pickle=False) as file:
                return dict(file)
        except (ValueError, EOFError, KeyError, zipfile.BadZipFile):
            raise RunFolderError(f"{self.path / name}: is damaged; remove it to have it computed again.") from None

    def write_rows(self, name: str, rows: Rows) -> None:
        """Write row numbers, one per line."""
        self.write_bytes(name, "".join(f"{row}\n" for row in rows.tolist()).encode())

    def read_rows(self, name: str) -> Rows:
        """Read row numbers, one per line."""
        try:
            return rows_in(self.read_text(name))
        except ValueError:
            raise RunFolderError(f"{self.path / name}: must contain one row number per line.") from None

    def write_json(self, name: str, values: dict[str, Any]) -> None:
        """Write a dict as JSON; infinity and NaN, which JSON lacks, become null."""
        self.write_bytes(name, (json.dumps(json_safe(values), indent=2, ensure_ascii=False) + "\n").encode())

    def read_json(self, name: str, needs: Iterable[str] = ()) -> dict[str, Any]:
        """Read a dict from JSON; raise if a key of `needs` is missing."""
        try:
            values = json.loads(self.read_text(name))
        except json.JSONDecodeError as error:
            raise RunFolderError(f"{self.path / name}: is not valid JSON ({error}).") from None
        if not isinstance(values, dict):
            raise RunFolderError(f"{self.path / name}: must contain a JSON object.")
        missing = [key for key in needs if key not in values]
        if missing:
            raise RunFolderError(f"{self.path / name}: does not contain {in_words(missing)}.")
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
        with explained(self.path / name, "read"):
            return (self.path / name).read_text(encoding="utf-8")

    def write_table(self, name: str, columns: dict[str, Any]) -> None:
        """Write columns as a parquet table."""
        import pyarrow as pa  # here, because it takes a third of leanset's start-up time and only saved runs need it
        import pyarrow.parquet as pq

        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer, compression="zstd")
        self.write_bytes(name, buffer.getvalue())

    def read_table(self, name: str) -> dict[str, AnyArray]:
        """Read the columns of a parquet table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with explained(self.path / name, "read"):
                table = pq.read_table(self.path / name)
        except pa.ArrowInvalid as error:
            raise RunFolderError(f"{self.path / name}: is not a parquet file ({error}).") from None
        return {column: table[column].to_numpy() for column in table.column_names}

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write a file under a temporary name and move it into place."""
        target = self.path / name
        with explained(target, "write"):
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.chmod(temporary, 0o644)
                os.replace(temporary, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise


class RunFolder(Folder):
    """The files of one run."""

    _stamp = ""  # digest of the identity that the folder was opened with

    def open(self, identity: dict[str, Any], *, overwrite: bool = False) -> bool:
        """Open the folder for a run with this identity (settings and data fingerprint); return whether it was new or empty.

        A missing folder is created. One with the same run, finished or not, is reused. Anything else is refused, unless
        `overwrite` is True: then another leanset run is replaced, once the new one is complete.
        """
        new = not self._is_taken()
        if new:
            self.close()  # an earlier run may have left stages that nothing is known about
        else:
            self._check_same_run(identity, overwrite=overwrite)
        self._stamp = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        try:
            with explained(self.path, "create"):
                (self.path / STAGES).mkdir(parents=True, exist_ok=True)
            self.write_json(_IN_PROGRESS, identity)
        except RunFolderError:
            if new:
                self.discard()
            raise
        return new

    def check(self, part: dict[str, Any], *, overwrite: bool = False, replaced_data: bool = False) -> None:
        """Raise what `open` would raise, given only a part of the identity; change nothing.

        With `replaced_data`, a run in the folder always counts as one on other data.
        """
        if self._is_taken():
            known = part | {"data_fingerprint": None} if replaced_data else part
            self._differences(known, known.keys(), overwrite=overwrite)

    def _is_taken(self) -> bool:
        if self.path.exists() and not self.path.is_dir():
            raise RunFolderError(f"{self.path}: is a file, not a folder; choose another output folder.")
        return self.path.is_dir() and any(
            item.name != NETWORK and not self._is_left_over(item) for item in self.path.iterdir()
        )

    def _is_left_over(self, item: Path) -> bool:
        """Return whether this is the `stages` of a run that ended before it wrote, or after it deleted, its settings."""
        if item.name != STAGES or not item.is_dir() or self.has(_IN_PROGRESS):
            return False
        return all(_OWN_STAGES.fullmatch(stage.name) for stage in item.iterdir())

    def _known(self) -> list[dict[str, Any]]:
        found = [self.read_json(name) for name in (_IN_PROGRESS, SETTINGS) if self.has(name)]
        if not found or not all(values.keys() >= _OWN_KEYS for values in found):
            raise RunFolderError(
                f"{self.path}: contains something that is not a leanset run; choose an empty or new output folder."
            )
        return found

    def _differences(self, identity: dict[str, Any], keys: Iterable[str], *, overwrite: bool) -> list[str]:
        """Return the keys in which a run differs from the one in the folder; raise if any do, unless `overwrite`."""
        changed = sorted({key for old in self._known() for key in keys if identity.get(key) != old.get(key)})
        if changed and not overwrite:
            raise RunFolderError(
                f"{self.path}: contains a run with different {in_words(changed)}; choose another output folder, or overwrite "
                "it (`overwrite=True`)."
            )
        return changed

    def _check_same_run(self, identity: dict[str, Any], *, overwrite: bool) -> None:
        keys = identity.keys() | {key for old in self._known() for key in old}
        self._differences(identity, keys, overwrite=overwrite)
        if not self.has(_IN_PROGRESS) or self.read_json(_IN_PROGRESS) != identity:
            shutil.rmtree(self.path / STAGES, ignore_errors=True)

    def is_finished(self, identity: dict[str, Any]) -> bool:
        """Return whether the folder contains this same run, complete (the certificate is written last)."""
        if not (self.path / CERTIFICATE).is_file() or not (self.path / SETTINGS).is_file():
            return False
        return self.read_json(SETTINGS) == identity

    def check_finished(self) -> None:
        """Raise if there is no finished run in the folder."""
        if not self.has(CERTIFICATE):
            raise RunFolderError(f"{self.path}: contains no finished run (no {CERTIFICATE}).")

    def start_final(self) -> None:
        """Delete the certificate, which marks a complete run, and the report on it, before files are replaced."""
        for name in (CERTIFICATE, REPORT):
            with explained(self.path / name, "remove"):
                (self.path / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Delete the stages of a finished run."""
        shutil.rmtree(self.path / STAGES, ignore_errors=True)

    def discard(self) -> None:
        """Delete the files of a new run that failed; a trained network stays."""
        self.close()
        with contextlib.suppress(OSError):
            self.path.rmdir()  # fails if it contains anything else

    def has_stage(self, name: str) -> bool:
        """Return whether a stage of this very run is finished; a stage of another one does not count."""
        file = f"{STAGES}/{name}.npz"
        return self.has(file) and str(self.read_arrays(file).get("identity")) == self._stamp

    def save_stage(self, name: str, **arrays: AnyArray) -> None:
        """Save the arrays of a stage, with the identity of the run."""
        self.write_arrays(f"{STAGES}/{name}.npz", identity=np.array(self._stamp), **arrays)

    def load_stage(self, name: str) -> dict[str, AnyArray]:
        """Return the arrays of a stage."""
        return self.read_arrays(f"{STAGES}/{name}.npz")


def rows_in(text: str) -> Rows:
    """Return the row numbers in a text, one per line; raise ValueError if it contains anything else."""
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
