"""Which difficulties a set must keep, regardless of the effect on the head.

A retrained network learns its features from the kept examples, so they must cover easy and hard ones. Balanced
influences on a head with fixed features do not ensure that. With far more examples than weights there are many balanced
sets; coverage restricts the search to those that cover all difficulties.
"""

import math
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Rows, Vector, mask_of
from leanset._errors import InputError
from leanset.problem import Constraints
from leanset.scores import checked_whole, tilted_order

# The rule, by share removed; linear in between. Chosen with the network `quick` on 40,000 training images of CIFAR-10 and
# judged on the other 10,000 of them (docs/comparison.md); test images played no part.
_REMOVED = (0.5, 0.8)
_TILT = (3.0, 0.0)
_CUT = (0.0, 0.1)
# Share of correctly labelled examples that a network confidently assigns to another class. Measured with conv4 after ten
# epochs on 10,000 images of CIFAR-10: 0.11 with correct labels, 0.14 with 9 % and 0.40 with 40 % wrong.
_HARD_ANYWAY = 0.15


def usual_tilt_and_cut(removed: float) -> tuple[float, float]:
    """Return the tilt and the cut of the default rule for a share that is removed.

    Examples
    --------
    >>> usual_tilt_and_cut(0.4)
    (3.0, 0.0)
    """
    return float(np.interp(removed, _REMOVED, _TILT)), float(np.interp(removed, _REMOVED, _CUT))


@dataclass(frozen=True)
class Coverage:
    """Keep examples of every difficulty in each class, except the hardest, and balance influences among such sets.

    The `cut` share of hardest examples is removed. The rest is split into strata of equal size, from easy to hard, and
    each keeps a share that is proportional to exp(`tilt`·u), where u runs from 0 for the easiest example to 1 for the
    hardest, but at most all. The search then exchanges only examples of the same class, stratum and weight (the length of
    the influence vector, split into bins within the stratum). So balance comes from directions that cancel, and not from
    preferring unusual examples.

    Parameters
    ----------
    strata : number of strata
    weights : bins of weight within a stratum
    tilt : how strongly hard examples are preferred; negative for easy ones. None follows the share that is removed: while
        enough is left to learn the easy from, they are what can go. See docs/comparison.md for the rule and its reasons
    cut : share of hardest examples to remove, never more than the number to remove; None follows the share removed
    suspects : True if labels may be wrong: if the network confidently disagrees with more than 0.15 of them, also cut the
        excess. Off by default, because a network that has not learnt much also disagrees with correct labels

    Examples
    --------
    >>> rules = Constraints(np.zeros(10, int), 1, np.zeros(10, bool), proportional=True)
    >>> removed, cells = Coverage(strata=4, cut=0.2).start(np.arange(10.0), rules, 6, np.random.default_rng(0))
    >>> bool(removed[8:].all())  # the two hardest are removed
    True
    """

    strata: int = 20
    weights: int = 4
    tilt: float | None = None
    cut: float | None = None
    suspects: bool = False

    def __post_init__(self) -> None:
        checked_whole("Coverage", strata=self.strata, weights=self.weights)
        if self.cut is not None and not 0 <= self.cut < 1:
            raise InputError(
                f"`Coverage(cut={self.cut})` must lie in 0 <= cut < 1, or be None for the default schedule."
            )
        if self.tilt is not None and not math.isfinite(self.tilt):
            raise InputError(f"`Coverage(tilt={self.tilt})` must be a finite number, or None for the default rule.")

    def doubted(self, suspect: float) -> float:
        """Return the share to cut because of suspect labels, given the share of suspect labels."""
        return max(0.0, suspect - _HARD_ANYWAY) if self.suspects else 0.0

    def start(
        self,
        difficulty: Vector,
        constraints: Constraints,
        count: int,
        rng: np.random.Generator,
        suspect: float = 0.0,
    ) -> tuple[Mask, Rows]:
        """Draw a set that covers the difficulties; return it and the cells within which rows may be exchanged.

        Parameters
        ----------
        difficulty : (n,) higher is harder
        constraints : which removals are allowed; if they are proportional, each class is covered separately
        count : number of examples to remove
        rng : random generator of the draw
        suspect : share of examples with whose label a network confidently disagrees
        """
        n, cells = len(difficulty), np.zeros(len(difficulty), dtype=np.int64)
        order, free = [], constraints.free
        if constraints.proportional:
            parts = [
                (free[constraints.groups[free] == c], int(quota)) for c, quota in enumerate(constraints.quotas(count))
            ]
        else:
            parts = [(free, count)]
        for nth, (members, quota) in enumerate(parts):
            share = quota / max(len(members), 1)
            tilt, cut = usual_tilt_and_cut(share)
            tilt = tilt if self.tilt is None else self.tilt
            cut = max(cut if self.cut is None else self.cut, self.doubted(suspect))
            preference, stratum = tilted_order(difficulty[members], quota, cut, self.strata, rng, tilt)
            cells[members] = nth * (self.strata + 1) + stratum
            order.append(members[preference])
        if constraints.proportional:
            chosen = [part[:quota] for part, (_, quota) in zip(order, parts, strict=True)]
            return mask_of(np.concatenate(chosen), n), cells
        return constraints.first_allowed(order[0], count), cells
