from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Rows, Vectors32


@dataclass(frozen=True)
class LargestSetProblem:
    """Problem (a) as published: the largest set of rows with ‖Σ vectors[removed]‖₂ ≤ bound.

    Parameters
    ----------
    vectors : (k, p) influence vectors
    groups : (k,) the group of each, such as its class
    bound : the paper's ε, in units of ‖Δθ‖
    capacity : how many examples of each group may be removed
    """

    vectors: Vectors32
    groups: Rows
    bound: float
    capacity: Rows

    def norm(self, removed: Mask) -> float:
        """Return the norm that the bound limits."""
        return float(np.linalg.norm(self.vectors[removed].sum(axis=0, dtype=np.float64)))

    def feasible(self, removed: Mask) -> bool:
        """Return whether a set satisfies the constraints."""
        gone = np.bincount(self.groups[removed], minlength=len(self.capacity))
        return bool(self.norm(removed) <= self.bound and (gone <= self.capacity).all())
