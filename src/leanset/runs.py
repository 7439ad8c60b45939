"""The run folder: its files, how they are written, and when an earlier result can be reused.

Every file is written under a temporary name and moved into place, so a reader never sees a partial one. During a run,
finished stages are kept in `stages/`; they belong to the data and settings in `stages/settings.json`, whose digest each of
them carries, and are deleted when the final files are complete. Only one run at a time works in a folder (`_lock.py`).
"""

import contextlib
import csv
import hashlib
import io
import itertools
import json
import os
import platform
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset._errors import RunFolderError, warn
from leanset._files import DamagedFile, arrays_in, open_regular
from leanset._kinds import NAMED, NUMBER, ROWS, TEXT, TEXTS, TRUTH, WHOLE, Kind, check_kinds, list_of, optional
from leanset._manifest import digests
from leanset._signature import PathLike, signed

KEPT, REMOVED, DROPPED = "kept.txt", "removed.txt", "dropped.txt"
KEPT_CSV, REMOVED_CSV = "kept.csv", "removed.csv"
SELECTION = "selection.parquet"
CERTIFICATE = "certificate.json"
SETTINGS = "settings.json"
SOURCE = "source.json"  # where the data were read from, and how
FRONTIER = "frontier.csv"
MANIFEST = "manifest.json"  # digests of all files of the run but the report, which may be written at any time
SIGNATURE = "manifest.sig"  # of the manifest's bytes, if a key was given
REPORT = "report.html"
NETWORK = "network"  # sub-folder of the trained network; stays when the run is replaced
STAGES = "stages"
OF_A_RUN = (
    *(SETTINGS, SOURCE, KEPT, REMOVED, DROPPED, KEPT_CSV, REMOVED_CSV, SELECTION, FRONTIER, CERTIFICATE),
    NETWORK,
)
_IN_PROGRESS, _TO_BE = f"{STAGES}/{SETTINGS}", f"{STAGES}/{CERTIFICATE}"
_OWN_KEYS = {"budget", "data_fingerprint", "leanset_version"}
# What a run leaves in `stages`; names that start with a point are of files that were being written.
_OWN_STAGES = re.compile(r"(damaged-)?(head|trusted|removal-.*|random-.*)\.npz|certificate\.json|\..*")
# Who is writing a file: what names this machine, and the process. The name of a machine may hold anything.
_WRITER, _WRITTEN = f"{zlib.crc32(platform.node().encode()):08x}", itertools.count()
Result = TypeVar("Result")
_BALANCE = Kind("a word or a whole number", lambda value: TEXT.fits(value) or WHOLE.fits(value))
SETTINGS_KINDS = {  # what is looked up in the settings of a saved run
    "budget": NAMED,
    "pinned": ROWS,
    "loss": TEXT,
    "l2": optional(NUMBER),
    "bias": TRUTH,
    "penalise_bias": TRUTH,
    "penalty": TEXT,
    "standardize": TRUTH,
    "formulation": TEXT,
    "class_balance": _BALANCE,
    "weight_bounds": list_of(optional(NUMBER), "a list of two numbers", 2),
    "random_draws": WHOLE,
    "suspects": TEXT,
    "columns": optional(TEXTS),
    "data_fingerprint": TEXT,
    "leanset_version": TEXT,
}
SELECTION_COLUMNS = {  # of the selection, and what they may be, in NumPy's letters
    "row": "iu",
    "label": "OUfiub",
    "kept": "b",
    "influence_norm": "f",
    "label_probability": "f",
    "weight": "f",
    "suspect": "b",
    "score": "f",
}


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
        self.sweep(STAGES)
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
            self.close()

    def is_finished(self, identity: dict[str, Any]) -> bool:
        """Return whether the folder contains this same run, complete (the certificate is written last)."""
        if not (self.path / CERTIFICATE).is_file() or not (self.path / SETTINGS).is_file():
            return False
        return self.read_json(SETTINGS) == identity

    def is_signed_with(self, key: PathLike) -> bool:
        """Return whether the signature is that of a private key, which signs the same bytes always in the same way."""
        if not self.has(MANIFEST) or not self.has(SIGNATURE):
            return False
        return self.read_text(SIGNATURE).strip() == signed((self.path / MANIFEST).read_bytes(), key)

    def check_finished(self) -> None:
        """Raise if there is no finished run in the folder."""
        if not self.has(CERTIFICATE):
            raise RunFolderError(f"{self.path}: contains no finished run (no {CERTIFICATE}).")

    def read_settings(self) -> dict[str, Any]:
        """Read the settings of a saved run."""
        return self.read_json(SETTINGS, SETTINGS_KINDS)

    def read_selection(self) -> dict[str, AnyArray]:
        """Read the table of a saved run's rows."""
        return self.read_table(SELECTION, SELECTION_COLUMNS)

    def start_final(self) -> None:
        """Delete the certificate, which marks a complete run, and what not every run has, before files are replaced."""
        for name in (CERTIFICATE, REPORT, DROPPED, SIGNATURE):
            with explained(self.path / name, "remove"):
                (self.path / name).unlink(missing_ok=True)

    def finish(self, certificate: dict[str, Any], sign: PathLike | None = None) -> None:
        """Write the manifest, its signature and last the certificate, which marks a complete run; delete the stages."""
        self.write_json(_TO_BE, certificate)
        files = digests(self.path, OF_A_RUN) | {CERTIFICATE: digests(self.path, [_TO_BE])[_TO_BE]}
        self.write_json(MANIFEST, {"sha256": files})
        if sign is not None:
            self.write_text(SIGNATURE, f"{signed((self.path / MANIFEST).read_bytes(), sign)}\n")
        with explained(self.path / CERTIFICATE, "write"):
            os.replace(self.path / _TO_BE, self.path / CERTIFICATE)
        self.close()

    def close(self) -> None:
        """Delete the stages of a finished run, and nothing else that somebody may have put there."""
        self.sweep()
        stages = self.path / STAGES
        with contextlib.suppress(OSError):
            for item in list(stages.iterdir()):
                if _OWN_STAGES.fullmatch(item.name) or item.name == SETTINGS:
                    item.unlink()
            stages.rmdir()  # fails if it contains anything else

    def discard(self) -> None:
        """Delete the files of a new run that failed; a trained network stays."""
        self.close()
        with contextlib.suppress(OSError):
            self.path.rmdir()  # fails if it contains anything else

    def save_stage(self, name: str, **arrays: AnyArray) -> None:
        """Save the arrays of a stage, with the identity of the run."""
        self.write_arrays(f"{STAGES}/{name}.npz", identity=np.array(self._stamp), **arrays)

    def recalled(self, name: str, read: Callable[[dict[str, AnyArray]], Result]) -> Result | None:
        """Return what `read` makes of a finished stage of this very run; None if there is none.

        A stage that cannot be read, or that `read` cannot use, is set aside and computed again.
        """
        file = f"{STAGES}/{name}.npz"
        if not self.has(file):
            return None
        try:
            arrays = self.read_arrays(file)
            if str(arrays.get("identity")) != self._stamp:
                return None  # a stage of another run
            return read(arrays)
        except (RunFolderError, LookupError, ValueError, TypeError, ArithmeticError) as error:
            with explained(self.path / file, "set aside"):
                os.replace(self.path / file, self.path / STAGES / f"damaged-{name}.npz")
            warn(f"{self.path / file}: cannot be used and is computed again ({error}).")
            return None


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
