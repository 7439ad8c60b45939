"""The run folder: its files, and when an earlier result can be reused.

During a run, finished stages are kept in `stages/`; they belong to the data and settings in `stages/settings.json`, whose
digest each of them carries, and are deleted when the final files are complete. Only one run at a time works in a folder
(`_lock.py`).
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leanset._arrays import AnyArray
from leanset._errors import RunFolderError, warn
from leanset._folder import Folder, explained, in_words
from leanset._kinds import NAMED, NUMBER, ROWS, TEXT, TEXTS, TRUTH, WHOLE, Kind, list_of, optional
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
