from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from leanset._errors import RunFolderError
from leanset._folder import Folder
from leanset.judge import SETUP, check_free, check_same_setup

CELLS = "cells"  # sub-folder of finished work
Record = TypeVar("Record")


class Finished:
    """Finished work by name: in a folder, to go on from after an interruption, or in memory if there is none.

    Parameters
    ----------
    out : folder of the comparison, or None
    """

    def __init__(self, out: Path | None) -> None:
        self._out = out
        self._files = None if out is None else Folder(out / CELLS)
        self._known: dict[str, Any] = {}

    def open(self, identity: dict[str, Any]) -> None:
        """Claim the folder for a setup, or raise if it belongs to another one or to something else."""
        self.check(identity)
        if self._files is None:
            return
        if not self._files.has(SETUP):
            self._files.write_json(SETUP, identity)
        self._files.sweep()

    def check(self, identity: dict[str, Any]) -> None:
        """Raise if the folder belongs to another setup or to something else."""
        if self._out is None or self._files is None:
            return
        check_free(self._out, CELLS)
        if self._files.has(SETUP):
            check_same_setup(self._files, identity)

    def get(self, name: str, kind: type[Record]) -> Record | None:
        """Return a finished record, or None."""
        if name not in self._known and self._files is not None and self._files.has(f"{name}.npz"):
            arrays = self._files.read_arrays(f"{name}.npz")
            try:
                self._known[name] = kind(
                    **{key: value if value.ndim else value.item() for key, value in arrays.items()}
                )
            except TypeError as error:
                raise RunFolderError(f"{self._files.path / name}.npz: is damaged ({error}); remove it.") from None
        known: Record | None = self._known.get(name)
        return known

    def put(self, name: str, record: Any) -> None:
        """Keep a finished record, a dataclass of arrays and numbers."""
        if self._files is not None:
            arrays = {item.name: np.asarray(getattr(record, item.name)) for item in fields(record)}
            self._files.write_arrays(f"{name}.npz", **arrays)
        self._known[name] = record
