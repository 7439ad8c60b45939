from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Rows, Vector, Vectors32, sum_of_rows
from leanset._errors import InputError


@dataclass(frozen=True)
class BestSetProblem:
    """Problem (b): choose a given number of rows, `removed`, that minimise ‖offset + Σ vectors[removed]‖₂.

    This class can evaluate any answer; it is the only code that solvers and checkers share.

    Parameters
    ----------
    vectors : (k, p) influence vectors of the rows that can move
    groups : (k,) the group of each, such as its class
    removed : (k,) a feasible starting set; every answer removes the same number of rows from each cell
    offset : (p,) sum of the vectors of rows that are always removed; zeros if None
    cells : (k,) codes from 0; rows are exchanged only within their cell. None uses the groups, which keeps group sizes
        fixed; all zeros allow any exchange
    spare : how many more examples each group may lose (if cells contain several groups); no limit if None

    Examples
    --------
    >>> p = BestSetProblem(np.float32([[1], [-1], [2]]), np.zeros(3, int), np.array([True, False, False]))
    >>> p.norm(np.array([True, True, False]))
    0.0
    """

    vectors: Vectors32
    groups: Rows
    removed: Mask
    offset: Vector | None = None
    cells: Rows | None = None
    spare: Rows | None = None

    def __post_init__(self) -> None:
        k = len(self.vectors)
        parts = (self.vectors[start : start + 4096] for start in range(0, k, 4096))  # a mask of them all would be large
        if self.vectors.ndim != 2 or not all(np.isfinite(part).all() for part in parts):
            raise InputError(
                f"`BestSetProblem(vectors=...)` must be a finite (k, p) array; got shape {self.vectors.shape}, "
                f"{int((~np.isfinite(self.vectors)).sum())} non-finite entries."
            )
        shapes = self.groups.shape, self.removed.shape, self.exchange_cells.shape
        if shapes != ((k,),) * 3:
            raise InputError(
                f"`BestSetProblem` needs one group, one start flag and one cell for each of the {k} vectors; got {shapes}."
            )

    @property
    def exchange_cells(self) -> Rows:
        """The cell of each row."""
        return self.groups if self.cells is None else self.cells

    def total(self, removed: Mask) -> Vector:
        """Return offset + Σ vectors[removed] in float64."""
        base = np.zeros(self.vectors.shape[1]) if self.offset is None else self.offset
        return np.asarray(base + sum_of_rows(self.vectors, removed))

    def norm(self, removed: Mask) -> float:
        """Return the objective."""
        return float(np.linalg.norm(self.total(removed)))

    def cell_counts(self, removed: Mask) -> Rows:
        """Return the number of removed rows in each cell."""
        return np.bincount(self.exchange_cells[removed], minlength=int(self.exchange_cells.max(initial=0)) + 1)

    def feasible(self, removed: Mask) -> bool:
        """Return whether a set satisfies the constraints."""
        if (self.cell_counts(removed) != self.cell_counts(self.removed)).any():
            return False
        if self.spare is None:
            return True
        count = int(self.groups.max(initial=0)) + 1
        gone, start = (np.bincount(self.groups[rows], minlength=count) for rows in (removed, self.removed))
        return bool((gone - start <= self.spare[:count]).all())
