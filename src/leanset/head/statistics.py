"""What leanset needs to know of a trained network: the inputs and outputs of its head, and what was recorded on the way.

On disk it is a folder of plain .npy files, written batch by batch and mapped rather than read when it is opened.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset._errors import InputError, RunFolderError
from leanset.data import Dynamics, Examples, checked_examples
from leanset.runs import Folder, explained

ABOUT = "about.json"


@dataclass(frozen=True, kw_only=True)
class HeadStatistics:
    """Features before the head, logits, labels and the head itself; what `leanset.prune` takes in place of arrays.

    Attributes
    ----------
    features : (n, d) float32
    labels : (n,) class codes
    classes : class names in code order
    logits : (n, C) the network's own, or None
    head : (C, d+1) the network's own head, bias last, or None
    weight_decay : penalty that the network was trained with; becomes the l2 of the head's problem
    validation : held-out (features, labels), or None
    rows : (n,) row numbers in the source, if rows were left out; else None
    dynamics : one record for each recorded training run
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

    features: AnyArray
    labels: Rows
    classes: tuple[str, ...]
    logits: AnyArray | None = None
    head: Matrix | None = None
    weight_decay: float | None = None
    validation: tuple[AnyArray, Rows] | None = None
    rows: Rows | None = None
    dynamics: tuple[Dynamics, ...] = field(default=(), repr=False)
    gradient_norm: Vector | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        n = len(self.labels)
        for record in self.dynamics:
            if record.correct.shape[1] != n:
                raise InputError(f"the recorded dynamics are of {record.correct.shape[1]:,} examples, not of {n:,}.")
        if self.gradient_norm is not None and self.gradient_norm.shape != (n,):
            raise InputError(f"`gradient_norm` must hold one number for each of the {n:,} examples.")

    def __len__(self) -> int:
        return len(self.labels)

    def examples(self) -> Examples:
        """Return the features and labels, checked."""
        plain = checked_examples(self.features, self.labels, self.validation)
        if len(plain.classes) != len(self.classes):
            raise InputError(
                f"the head knows {len(self.classes)} classes, but the labels name {len(plain.classes)}; every class of the "
                "head needs at least one example, and no other may occur."
            )
        return replace(plain.renamed(self.classes), rows=self.rows)

    def with_evidence(
        self, *, dynamics: Dynamics | Iterable[Dynamics] | None = None, gradient_norm: Vector | None = None
    ) -> "HeadStatistics":
        """Return these statistics with more evidence for the score methods.

        Parameters
        ----------
        dynamics : the record of a training run, or several, as `leanset.torch.train` returns them
        gradient_norm : as `leanset.torch.gradient_norms` returns it
        """
        records = (dynamics,) if isinstance(dynamics, Dynamics) else dynamics
        return replace(
            self,
            dynamics=self.dynamics if records is None else tuple(records),
            gradient_norm=self.gradient_norm if gradient_norm is None else gradient_norm,
        )

    def in_memory(self) -> "HeadStatistics":
        """Return a copy that no longer needs its folder."""
        held_out = self.validation and (np.array(self.validation[0]), np.array(self.validation[1]))
        return replace(
            self,
            features=np.array(self.features),
            logits=None if self.logits is None else np.array(self.logits),
            head=None if self.head is None else np.array(self.head),
            validation=held_out,
            gradient_norm=None if self.gradient_norm is None else np.array(self.gradient_norm),
            dynamics=tuple(record.take(np.arange(len(self))) for record in self.dynamics),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything into a folder: a new one, an empty one, or one of earlier head statistics."""
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
            if not _is_mapped_from(array, folder / f"{name}.npy"):
                _replace_array(folder / f"{name}.npy", array)
        about = {"classes": list(self.classes), "weight_decay": self.weight_decay, "arrays": sorted(arrays)}
        Folder(folder).write_json(ABOUT, about)  # last, as the mark of a complete store

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "HeadStatistics":
        """Open a folder written by `save`; arrays are mapped, not read."""
        folder = Path(path)
        about = Folder(folder).read_json(ABOUT, ("classes", "weight_decay", "arrays"))
        found = {str(name): _mapped(folder / f"{Path(str(name)).name}.npy") for name in about["arrays"]}
        missing = [name for name in ("features", "labels") if name not in found]
        if missing:
            raise RunFolderError(f"{folder / ABOUT}: names no {' and no '.join(missing)}.")
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


def store_in(path: str | os.PathLike[str]) -> Path:
    """Make a folder ready for head statistics: what lies there must be such, and is no longer valid from now on."""
    folder = Path(path)
    with explained(folder, "create"):
        folder.mkdir(parents=True, exist_ok=True)
        foreign = sorted(item.name for item in folder.iterdir() if item.suffix != ".npy" and item.name != ABOUT)
        if foreign:
            raise RunFolderError(f"{folder}: holds something else ({foreign[0]}); choose an empty or new folder.")
        (folder / ABOUT).unlink(missing_ok=True)
    return folder


def is_stored(path: Path) -> bool:
    """Return whether a folder holds complete head statistics."""
    return (path / ABOUT).is_file()


def _mapped(path: Path) -> AnyArray:
    try:
        array: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
        return array
    except FileNotFoundError:
        raise RunFolderError(f"{path}: is missing; this is not a complete folder of head statistics.") from None
    except (OSError, ValueError, EOFError) as error:
        raise RunFolderError(f"{path}: cannot be read: {error}.") from None


def _replace_array(path: Path, array: AnyArray) -> None:
    """Write a file beside its name and move it into place: another array to be saved may still be mapped from there."""
    beside = path.with_name(f"new-{path.name}")
    with explained(path, "write"):
        np.save(beside, array, allow_pickle=False)
        os.replace(beside, path)


def _is_mapped_from(array: AnyArray, path: Path) -> bool:
    """Return whether an array is the whole content of a file, and not a part or another view of it."""
    if not isinstance(array, np.memmap) or array.filename is None or Path(array.filename) != path.resolve():
        return False
    return array.base is not None and not isinstance(array.base, np.memmap)
