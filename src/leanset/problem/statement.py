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
    removed : (k,) a feasible starting set; every answer removes as many rows (of each class, if `within_class`)
    offset : (p,) sum of the vectors of rows that go for certain; zeros if None
    within_class : only exchange rows of one class, which keeps class counts as they are
    spare : (C,) how many more examples each class may lose (used when exchanging across classes)

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
    within_class: bool = True
    spare: Rows | None = None

    def __post_init__(self) -> None:
        k = len(self.vectors)
        if self.vectors.ndim != 2 or not np.isfinite(self.vectors).all():
            raise InputError(
                f"`PruneProblem(vectors=...)` must be a finite (k, p) array; got shape {self.vectors.shape}, "
                f"{int((~np.isfinite(self.vectors)).sum())} non-finite entries."
            )
        if self.labels.shape != (k,) or self.removed.shape != (k,):
            raise InputError(
                f"`PruneProblem` needs one label and one start flag for each of the {k} vectors; got {self.labels.shape} "
                f"and {self.removed.shape}."
            )

    def total(self, removed: Mask) -> Vector:
        """Return offset + Σ vectors[removed] in float64."""
        base = np.zeros(self.vectors.shape[1]) if self.offset is None else self.offset
        return np.asarray(base + self.vectors[removed].sum(axis=0, dtype=np.float64))

    def norm(self, removed: Mask) -> float:
        """Return the objective."""
        return float(np.linalg.norm(self.total(removed)))

    def class_counts(self, removed: Mask) -> Rows:
        """Return how many rows of each class a set removes."""
        return np.bincount(self.labels[removed], minlength=int(self.labels.max(initial=0)) + 1)

    def feasible(self, removed: Mask) -> bool:
        """Return whether a set satisfies the constraints."""
        gone, start = self.class_counts(removed), self.class_counts(self.removed)
        if self.within_class:
            return bool((gone == start).all())
        room = np.full(len(gone), len(self.labels)) if self.spare is None else self.spare[: len(gone)]
        return bool(gone.sum() == start.sum() and (gone - start <= room).all())


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
