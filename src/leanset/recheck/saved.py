from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Rows, Vector
from leanset.data import Examples
from leanset.runs import RunFolder


@dataclass(frozen=True)
class SavedRun:
    """The files of a run folder, read, beside the data.

    Attributes
    ----------
    folder : where the files are
    settings, certificate : as saved
    examples : the data that the run chose from
    listed_kept, listed_removed : row numbers in the two lists
    table : columns of the selection table
    """

    folder: RunFolder
    settings: dict[str, Any]
    certificate: dict[str, Any]
    examples: Examples
    listed_kept: Rows
    listed_removed: Rows
    table: dict[str, AnyArray]

    @cached_property
    def kept(self) -> Rows:
        """Places of the kept examples."""
        return self.examples.places_of(self.listed_kept)

    @cached_property
    def removed(self) -> Rows:
        """Places of the removed examples."""
        return self.examples.places_of(self.listed_removed)

    @cached_property
    def pinned(self) -> Rows:
        """Places of the pinned examples."""
        return self.examples.places_of(np.array(self.settings["pinned"], dtype=np.int64))

    @property
    def weights(self) -> Vector | None:
        """Weights of the kept examples, those they came with included; None if all count alike."""
        if self.certificate["weighted"] or self.examples.weight is not None:
            return self.table["weight"][self.table["kept"]]
        return None

    @property
    def budget(self) -> str:
        """Name of the budget."""
        return next(iter(self.settings["budget"]), "")
