"""Which difficulties a set must keep, whatever it does to the head.

A network learns its features anew from the kept examples, and for that they must cover the easy and the hard, which the
balance of influences on a head of fixed features does not ask for. With far more examples than weights there are many
balanced sets; coverage says among which of them to look.
"""

from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Rows, Vector, mask_of
from leanset._errors import InputError
from leanset.problem import Constraints
from leanset.scores import checked_whole, covering_order, published_cut

# By share removed, joined by straight lines: how evenly the strata are covered.
_REMOVED = (0.4, 0.8)
_EVENNESS = (0.0, 1.0)
# Beyond this, a cut moved the head more and gained nothing: 10,000 images of CIFAR-10, 90 % removed, three seeds: 3.5 times
# below random and 48.5 % accurate with 0.2, 2.9 times and 47.4 % with the published 0.3.
_MOST_CUT = 0.2
# Share of examples that a network confidently takes for another class although nothing is wrong with their labels. Seen
# with conv4 after ten epochs on 10,000 images of CIFAR-10: 0.11 with right labels, 0.14 with 9 % and 0.40 with 40 % wrong.
_HARD_ANYWAY = 0.15


@dataclass(frozen=True)
class Coverage:
    """Keep some of every difficulty within each class, except the hardest, and balance influences among such sets.

    The `cut` share of hardest examples goes. The range of the remaining difficulties is cut into strata of equal width,
    and what may stay is shared out over them: in proportion to their sizes where little is removed, evenly where much
    is. The search then exchanges examples of the same class, stratum and weight only (weight: the length of the
    influence vector, cut into bins within the stratum), so that balance comes from directions that cancel and not from
    a taste for odd examples.

    Parameters
    ----------
    strata : number of strata
    weights : bins of weight within a stratum
    cut : share of hardest examples to drop, never more than have to go; None for what CCS was published with, but no more
        than 0.2: none up to 50 % removed, 0.1 at 70 and 80 %, 0.2 from 85 % on, and straight lines between. More is cut at
        a price: the head is held to examples that then are gone. (10,000 images of CIFAR-10, 80 % removed: with a cut of
        0.1 / 0.2 / 0.3 the head moves 6 / 4 / 2.6 times less than after a random removal.)
    suspects : labels may be wrong: where the network confidently disputes more than 0.15 of them, cut what exceeds that as
        well. Off by default, because a network that has not learnt much disputes right labels too

    Examples
    --------
    >>> rules = Constraints(np.zeros(10, int), 1, np.zeros(10, bool), proportional=True)
    >>> removed, cells = Coverage(strata=4, cut=0.2).start(np.arange(10.0), rules, 6, np.random.default_rng(0))
    >>> bool(removed[8:].all())  # the two hardest went
    True
    """

    strata: int = 20
    weights: int = 4
    cut: float | None = None
    suspects: bool = False

    def __post_init__(self) -> None:
        checked_whole("Coverage", strata=self.strata, weights=self.weights)
        if self.cut is not None and not 0 <= self.cut < 1:
            raise InputError(
                f"`Coverage(cut={self.cut})` must lie in 0 <= cut < 1, or be None for the default schedule."
            )

    def doubted(self, suspect: float) -> float:
        """Return the share that is cut because of its labels, when a share of all labels is suspect."""
        return max(0.0, suspect - _HARD_ANYWAY) if self.suspects else 0.0

    def start(
        self,
        difficulty: Vector,
        constraints: Constraints,
        count: int,
        rng: np.random.Generator,
        suspect: float = 0.0,
    ) -> tuple[Mask, Rows]:
        """Draw a set that covers the difficulties, and return it with the cells that exchanges must respect.

        Parameters
        ----------
        difficulty : (n,) more is harder
        constraints : which removals are allowed; each class is covered by itself if classes keep their share
        count : how many go
        rng : of the draw
        suspect : share of examples whose label a network confidently disputes
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
            usual = min(published_cut(share), _MOST_CUT) if self.cut is None else self.cut
            cut = max(usual, self.doubted(suspect))
            evenness = float(np.interp(share, _REMOVED, _EVENNESS))
            preference, stratum = covering_order(difficulty[members], quota, cut, self.strata, rng, evenness)
            cells[members] = nth * (self.strata + 1) + stratum
            order.append(members[preference])
        if constraints.proportional:
            chosen = [part[:quota] for part, (_, quota) in zip(order, parts, strict=True)]
            return mask_of(np.concatenate(chosen), n), cells
        return constraints.first_allowed(order[0], count), cells
