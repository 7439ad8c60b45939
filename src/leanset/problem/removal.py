from dataclasses import dataclass
from math import nan

import numpy as np

from leanset._arrays import Mask, Vector
from leanset.head import Refit
from leanset.problem.effect import Effect
from leanset.problem.outcome import Outcome


@dataclass(frozen=True)
class Removal:
    """A set of rows to remove, how it was found, and what is known about it.

    Attributes
    ----------
    removed : True for removed rows; over the rows of the problem, or over all examples
    outcome : how the search ended
    norm : the problem's objective for this set, in float64
    start_norm : the objective of the starting set
    proposals : moves tried
    seconds : time spent searching
    refit : the head refitted without these rows, if that was done
    effect : what was predicted and measured, if that was done
    row_weights : (n,) weights of all rows, where the kept ones do not simply count 1
    """

    removed: Mask
    outcome: Outcome
    norm: float = nan
    start_norm: float = nan
    proposals: int = 0
    seconds: float = 0.0
    refit: Refit | None = None
    effect: Effect | None = None
    row_weights: Vector | None = None

    @property
    def count(self) -> int:
        """Number of removed rows."""
        return int(self.removed.sum())

    @property
    def gone(self) -> Vector:
        """How much of each row goes: 1 for a removed row, and what its weight leaves out of 1 for a kept one."""
        return np.asarray(1.0 - self.weights)

    @property
    def weights(self) -> Vector:
        """Weight of each row: 0 for a removed row, and 1 for a kept one unless it has a weight of its own."""
        return (~self.removed).astype(np.float64) if self.row_weights is None else self.row_weights

    @property
    def measured(self) -> Effect:
        """The effect; the removal must have been measured."""
        assert self.effect is not None, "this removal was not measured"
        return self.effect

    @property
    def refitted(self) -> Refit:
        """The refit; the head must have been refitted."""
        assert self.refit is not None, "no head was refitted for this removal"
        return self.refit
