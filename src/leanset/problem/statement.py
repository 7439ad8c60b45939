from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Rows, Vector, Vectors32
from leanset._errors import InputError


@dataclass(frozen=True)
class PruneProblem:
    """Problem (b): which `removed` rows make ‖offset + Σ vectors[removed]‖₂ least, their number being given.

    The statement can judge any answer; solvers and checkers share it, and no code beyond it.

    Parameters
    ----------
    vectors : (k, p) influence vectors of the rows that can move
    labels : (k,) their classes
    removed : (k,) a feasible starting set; every answer removes as many rows of each cell
    offset : (p,) sum of the vectors of rows that go for certain; zeros if None
    cells : (k,) codes from 0; rows are exchanged with rows of their cell only. Their classes if None, which keeps class
        counts as they are; all zero to exchange freely
    spare : (C,) how many more examples each class may lose (for cells that hold several classes); no limit if None

    Examples
    --------
    >>> p = PruneProblem(np.float32([[1], [-1], [2]]), np.zeros(3, int), np.array([True, False, False]))
    >>> p.norm(np.array([True, True, False]))
    0.0
    """

    vectors: Vectors32
    labels: Rows
    removed: Mask
    offset: Vector | None = None
    cells: Rows | None = None
    spare: Rows | None = None

    def __post_init__(self) -> None:
        k = len(self.vectors)
        if self.vectors.ndim != 2 or not np.isfinite(self.vectors).all():
            raise InputError(
                f"`PruneProblem(vectors=...)` must be a finite (k, p) array; got shape {self.vectors.shape}, "
                f"{int((~np.isfinite(self.vectors)).sum())} non-finite entries."
            )
        shapes = self.labels.shape, self.removed.shape, self.groups.shape
        if shapes != ((k,),) * 3:
            raise InputError(
                f"`PruneProblem` needs one label, one start flag and one cell for each of the {k} vectors; got {shapes}."
            )

    @property
    def groups(self) -> Rows:
        """The cell of each row."""
        return self.labels if self.cells is None else self.cells

    def total(self, removed: Mask) -> Vector:
        """Return offset + Σ vectors[removed] in float64."""
        base = np.zeros(self.vectors.shape[1]) if self.offset is None else self.offset
        return np.asarray(base + self.vectors[removed].sum(axis=0, dtype=np.float64))

    def norm(self, removed: Mask) -> float:
        """Return the objective."""
        return float(np.linalg.norm(self.total(removed)))

    def cell_counts(self, removed: Mask) -> Rows:
        """Return how many rows of each cell a set removes."""
        return np.bincount(self.groups[removed], minlength=int(self.groups.max(initial=0)) + 1)

    def feasible(self, removed: Mask) -> bool:
        """Return whether a set satisfies the constraints."""
        if (self.cell_counts(removed) != self.cell_counts(self.removed)).any():
            return False
        if self.spare is None:
            return True
        classes = int(self.labels.max(initial=0)) + 1
        gone, start = (np.bincount(self.labels[rows], minlength=classes) for rows in (removed, self.removed))
        return bool((gone - start <= self.spare[:classes]).all())


@dataclass(frozen=True)
class GrowthProblem:
    """Problem (a) as published: the largest set of rows with ‖Σ vectors[removed]‖₂ ≤ bound.

    Parameters
    ----------
    vectors : (k, p) influence vectors
    labels : (k,) their classes
    bound : the ε of the paper, in units of ‖Δθ‖
    capacity : (C,) how many examples of each class may go
    """

    vectors: Vectors32
    labels: Rows
    bound: float
    capacity: Rows

    def norm(self, removed: Mask) -> float:
        """Return the constrained quantity."""
        return float(np.linalg.norm(self.vectors[removed].sum(axis=0, dtype=np.float64)))

    def feasible(self, removed: Mask) -> bool:
        """Return whether a set satisfies the constraints."""
        gone = np.bincount(self.labels[removed], minlength=len(self.capacity))
        return bool(self.norm(removed) <= self.bound and (gone <= self.capacity).all())
