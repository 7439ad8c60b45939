"""What stays fixed when the head is trained on fewer examples.

Training minimises Σ w_i ℓ_i / Σ w_i + (l2/2)‖θ‖². Leaving l2 alone is the mean penalty: torch's `weight_decay` as it is.
Leaving n·l2 alone is the total penalty: scikit-learn's `C` as it is. The two ask for different removals: under the mean
penalty the centred gradients g_i + l2·θ̂ of the removed rows must add up to zero, under the total penalty the plain g_i.
"""

import abc
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Penalty(abc.ABC):
    """One convention; it says by itself what it means for influences and for the l2 to train with."""

    name: ClassVar[str]
    centred: ClassVar[bool]  # whether each removed row takes its share l2·θ̂ of the penalty with it

    @abc.abstractmethod
    def l2_on(self, l2: float, n: float, total: float) -> float:
        """Return the l2 of the mean loss on rows of `total` weight, when it was `l2` on all, of weight n."""

    @property
    @abc.abstractmethod
    def other(self) -> "Penalty":
        """The other convention."""


@dataclass(frozen=True)
class MeanPenalty(Penalty):
    """l2 stays as it is.

    Examples
    --------
    >>> MeanPenalty().l2_on(1e-2, 100, 50.0)
    0.01
    """

    name: ClassVar[str] = "mean"
    centred: ClassVar[bool] = True

    def l2_on(self, l2: float, n: float, total: float) -> float:
        """Return l2."""
        return l2

    @property
    def other(self) -> Penalty:
        """The total penalty."""
        return TotalPenalty()


@dataclass(frozen=True)
class TotalPenalty(Penalty):
    """n·l2 stays as it is, so l2 grows as rows go.

    Examples
    --------
    >>> TotalPenalty().l2_on(1e-2, 100, 50.0)
    0.02
    """

    name: ClassVar[str] = "total"
    centred: ClassVar[bool] = False

    def l2_on(self, l2: float, n: float, total: float) -> float:
        """Return l2·n divided by the weight that is left."""
        return l2 * n / total

    @property
    def other(self) -> Penalty:
        """The mean penalty."""
        return MeanPenalty()


PENALTIES: dict[str, Penalty] = {penalty.name: penalty for penalty in (MeanPenalty(), TotalPenalty())}
