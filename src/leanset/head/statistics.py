"""What leanset needs from a trained network: the inputs and outputs of its head, and records of its training.

On disk this is a folder of .npy files, written batch by batch and memory-mapped when opened.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset._errors import InputError, RunFolderError
from leanset._files import DamagedFile, mapped_array
from leanset._folder import Folder, explained
from leanset._kinds import NUMBER, TEXTS, optional
from leanset._rules import is_number
from leanset.data import Dynamics, Examples, Features, checked_examples
from leanset.rows import RowTable, ZarrRows, all_rows, place_of, read_array, store_of

ABOUT = "about.json"
STORE = ".zarr"  # how places of stores end
_NEW = "new-"  # before the name of an array that is being written
_ABOUT = {"classes": TEXTS, "weight_decay": optional(NUMBER), "arrays": TEXTS}


@dataclass(frozen=True, kw_only=True)
class HeadStatistics:
    """Inputs of the head, logits, labels and the head itself; `leanset.prune` accepts it instead of arrays.

    Attributes
    ----------
    features : (n, d) float32; they and the logits may be tables that stay in a store
    labels : (n,) class codes
    classes : class names in code order
    logits : (n, C) outputs of the network, or None
    head : (C, d+1) head of the network, bias last, or None
    weight_decay : of the network's training; becomes the l2 of the head
    validation : held-out (features, labels), or None
    rows : (n,) row numbers in the source; None if no rows were left out
    dynamics : one record per training run
    gradient_norm : (n,) norms of the whole network's gradient (GraNd), or None

    Examples
    --------
    >>> import leanset
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 80)
    >>> stats = HeadStatistics(features=rng.normal(size=(80, 3)) + labels[:, None], labels=labels, classes=("a", "b"))
    >>> len(leanset.prune(stats, fraction=0.25, frontier=False).removed)
    20
    """

    features: Features
    labels: Rows
    classes: tuple[str, ...]
    logits: Features | None = None
    head: Matrix | None = None
    weight_decay: float | None = None
    validation: tuple[Features, Rows] | None = None
    rows: Rows | None = None
    dynamics: tuple[Dynamics, ...] = field(default=(), repr=False)
    gradient_norm: Vector | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        n = len(self.labels)
        self._check_arrays(n)
        for record in self.dynamics:
            if record.correct.shape[1] != n:
                raise InputError(f"the recorded dynamics are for {record.correct.shape[1]:,} examples, not for {n:,}.")

    def _check_arrays(self, n: int) -> None:
        """Raise if an array has another shape or another kind of numbers than the classes and the features ask for."""
        if not self.classes or not all(isinstance(name, str) for name in self.classes):
            raise InputError("`classes` must be the names of the classes.")
        if len(self.features.shape) != 2 or len(self.features) != n:
            raise InputError(f"`features` must be ({n}, d) numbers, one row for each label; got {self.features.shape}.")
        decay, outputs, width = self.weight_decay, len(self.classes), self.features.shape[1]
        if decay is not None and not (is_number(decay) and decay >= 0):
            raise InputError(f"`weight_decay={decay!r}` must be a number of at least 0, or None.")
        wanted: dict[str, tuple[Features | None, tuple[int, ...], str]] = {
            "features": (self.features, (n, width), "fiub"),
            "labels": (self.labels, (n,), "iu"),
            "logits": (self.logits, (n, outputs), "f"),
            "head": (self.head, (outputs, width + 1), "f"),
            "gradient_norm": (self.gradient_norm, (n,), "f"),
            "rows": (self.rows, (n,), "iu"),
        }
        for name, (array, shape, kinds) in wanted.items():
            if array is not None and (array.shape != shape or array.dtype.kind not in kinds):
                raise InputError(f"`{name}` must be {shape} numbers; got {array.dtype} {array.shape}.")
        if self.rows is not None and (self.rows[0] < 0 or (np.diff(self.rows) <= 0).any()):
            raise InputError("`rows` must be ascending row numbers, each once.")

    def __len__(self) -> int:
        return len(self.labels)

    def examples(self) -> Examples:
        """Return the features and labels, checked."""
        plain = checked_examples(self.features, self.labels, self.validation)
        if plain.classes != tuple(map(str, range(len(self.classes)))):
            raise InputError(
                f"the head has {len(self.classes)} classes, but the labels have {len(plain.classes)}, "
                f"{plain.classes[0]} to {plain.classes[-1]}; every class of the head needs at least one example, numbered from "
                "0, and other classes are not allowed."
            )
        return replace(plain.renamed(self.classes), rows=self.rows)

    def with_evidence(
        self, *, dynamics: Dynamics | Iterable[Dynamics] | None = None, gradient_norm: Vector | None = None
    ) -> "HeadStatistics":
        """Return a copy with more evidence for the score methods.

        Parameters
        ----------
        dynamics : records of one or several training runs, as returned by `leanset.torch.train`
        gradient_norm : as returned by `leanset.torch.gradient_norms`
        """
        records = (dynamics,) if isinstance(dynamics, Dynamics) else dynamics
        return replace(
            self,
            dynamics=self.dynamics if records is None else tuple(records),
            gradient_norm=self.gradient_norm if gradient_norm is None else gradient_norm,
        )

    def in_memory(self) -> "HeadStatistics":
        """Return a copy that no longer needs its folder."""
        held_out = self.validation and (_copy(self.validation[0]), np.array(self.validation[1]))
        return replace(
            self,
            features=_copy(self.features),
            logits=None if self.logits is None else _copy(self.logits),
            head=None if self.head is None else np.array(self.head),
            validation=held_out,
            gradient_norm=None if self.gradient_norm is None else np.array(self.gradient_norm),
            dynamics=tuple(record.take(np.arange(len(self))) for record in self.dynamics),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything into a folder, which must be new, empty or contain head statistics."""
        folder = store_in(path)
        given = {
            name: getattr(self, name) for name in ("features", "labels", "logits", "head", "gradient_norm", "rows")
        }
        if self.validation is not None:
            given |= {"val_features": self.validation[0], "val_labels": self.validation[1]}
        for nth, record in enumerate(self.dynamics):
            given |= {f"dynamics-{nth}-{name}": getattr(record, name) for name in Dynamics.names()}
        arrays = {name: array for name, array in given.items() if array is not None}
        for name, array in arrays.items():
            plain = all_rows(array) if isinstance(array, RowTable) else array
            if not _is_mapped_from(plain, folder / f"{name}.npy"):
                _replace_array(folder / f"{name}.npy", plain)
        about = {"classes": list(self.classes), "weight_decay": self.weight_decay, "arrays": sorted(arrays)}
        Folder(folder).write_json(ABOUT, about)  # last, because it marks complete statistics

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "HeadStatistics":
        """Open a folder written by `save`, or a Zarr store that a capture wrote; features and logits are not read."""
        folder = Path(path)
        if os.fspath(path).endswith(STORE):
            return cls._in_store(place_of(path))
        about = Folder(folder).read_json(ABOUT, _ABOUT)
        found = {str(name): _mapped(folder / f"{Path(str(name)).name}.npy") for name in about["arrays"]}
        needed = ("features", "labels", *(("val_labels",) if "val_features" in found else ()))
        missing = [name for name in needed if name not in found]
        if missing:
            raise RunFolderError(f"{folder / ABOUT}: lists no {' and no '.join(missing)}.")
        try:
            return cls._of(found, about)
        except InputError as error:
            raise RunFolderError(f"{folder}: is damaged: {error}") from None

    @classmethod
    def _in_store(cls, place: str) -> "HeadStatistics":
        store = store_of(place)
        if not store.complete or "classes" not in store.about:
            raise RunFolderError(
                f"{place}: contains no head statistics, or the capture that writes them is not finished."
            )
        tables = {name: ZarrRows.of(place, name) for name, axes in store.arrays.items() if axes == 2}
        columns = {name: read_array(place, name, slice(0, None)) for name, axes in store.arrays.items() if axes == 1}
        return cls(
            features=tables["features"],
            labels=columns["labels"],
            classes=tuple(store.about["classes"]),
            logits=tables.get("logits"),
            head=None if store.about.get("head") is None else np.array(store.about["head"]),
            weight_decay=store.about.get("weight_decay"),
            validation=(tables["val_features"], columns["val_labels"]) if "val_features" in tables else None,
        )

    @classmethod
    def _of(cls, found: dict[str, AnyArray], about: dict[str, Any]) -> "HeadStatistics":
        records: list[Dynamics] = []
        while f"dynamics-{len(records)}-correct" in found:
            parts = [found.get(f"dynamics-{len(records)}-{name}", np.empty(0)) for name in Dynamics.names()]
            records.append(Dynamics(*parts))
        return cls(
            features=found["features"],
            labels=np.array(found["labels"]),
            classes=tuple(about["classes"]),
            logits=found.get("logits"),
            head=found.get("head"),
            weight_decay=about["weight_decay"],
            validation=(found["val_features"], found["val_labels"]) if "val_features" in found else None,
            rows=np.array(found["rows"]) if "rows" in found else None,
            dynamics=tuple(records),
            gradient_norm=found.get("gradient_norm"),
        )


def _copy(features: Features) -> AnyArray:
    return all_rows(features) if isinstance(features, RowTable) else np.array(features)


def store_in(path: str | os.PathLike[str]) -> Path:
    """Prepare a folder for head statistics; statistics that it already contains become invalid."""
    folder = Path(path)
    with explained(folder, "create"):
        folder.mkdir(parents=True, exist_ok=True)
        Folder(folder).sweep()
        foreign = sorted(item.name for item in folder.iterdir() if item.suffix != ".npy" and item.name != ABOUT)
        if foreign:
            raise RunFolderError(f"{folder}: contains something else ({foreign[0]}); choose an empty or new folder.")
        (folder / ABOUT).unlink(missing_ok=True)
        for left in folder.glob(f"{_NEW}*.npy"):
            left.unlink()
    return folder


def is_stored(path: Path) -> bool:
    """Return whether a folder contains complete head statistics."""
    return (path / ABOUT).is_file()


def _mapped(path: Path) -> AnyArray:
    try:
        return mapped_array(path)
    except FileNotFoundError:
        raise RunFolderError(f"{path}: is missing; this is not a complete folder of head statistics.") from None
    except (OSError, DamagedFile) as error:
        raise RunFolderError(f"{path}: cannot be read: {error}.") from None


def _replace_array(path: Path, array: AnyArray) -> None:
    """Write a temporary file and move it into place, because an array still to be saved may be mapped from the old one."""
    beside = path.with_name(f"{_NEW}{path.name}")
    with explained(path, "write"):
        np.save(beside, array, allow_pickle=False)
        os.replace(beside, path)


def _is_mapped_from(array: AnyArray, path: Path) -> bool:
    """Return whether an array is the complete content of a file, not a part or view of it."""
    if not isinstance(array, np.memmap) or array.filename is None or Path(array.filename) != path.resolve():
        return False
    return array.base is not None and not isinstance(array.base, np.memmap)
