from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Rows, mask_of, rank_within, rounded_shares
from leanset._errors import InputError


@dataclass(frozen=True)
class Constraints:
    """Which removals are allowed, whatever they do to the head.

    Parameters
    ----------
    labels : (n,) class codes
    n_classes : number of classes
    pinned : (n,) True for rows that must stay
    proportional : remove the same share of every class
    least_kept : examples of each class that must stay (pinned ones count); at least 1, so that no class is wiped out

    Examples
    --------
    >>> rules = Constraints(np.array([0, 0, 0, 0, 1, 1]), 2, np.zeros(6, bool), proportional=True)
    >>> rules.quotas(3).tolist(), rules.most
    ([2, 1], 4)
    """

    labels: Rows
    n_classes: int
    pinned: Mask
    proportional: bool
    least_kept: int = 1

    @property
    def free(self) -> Rows:
        """Rows that may go."""
        return np.flatnonzero(~self.pinned)

    @property
    def capacity(self) -> Rows:
        """How many examples of each class may go."""
        sizes = np.bincount(self.labels, minlength=self.n_classes)
        unpinned = np.bincount(self.labels[self.free], minlength=self.n_classes)
        return np.maximum(np.minimum(unpinned, sizes - self.least_kept), 0)

    @property
    def most(self) -> int:
        """The largest number of examples that may go."""
        return int(self.capacity.sum())

    def quotas(self, count: int) -> Rows:
        """Return how many examples of each class go when `count` go in proportion to the class sizes.

        Classes that cannot give their share (pinned rows) give what they can and the others make up for it; what is
        left over by rounding goes to the largest remainders.
        """
        self.check(count)
        sizes, room = np.bincount(self.labels, minlength=self.n_classes), self.capacity
        shares = np.zeros(self.n_classes)
        open_classes = room > 0
        while open_classes.any():
            rate = (count - shares[~open_classes].sum()) / sizes[open_classes].sum()
            full = open_classes & (rate * sizes >= room)
            if not full.any():
                shares[open_classes] = rate * sizes[open_classes]
                break
            shares[full] = room[full]
            open_classes &= ~full
        return rounded_shares(shares, count)

    def random_removal(self, count: int, rng: np.random.Generator) -> Mask:
        """Draw a removal of `count` examples at random among the allowed ones."""
        return self.first_allowed(rng.permutation(self.free), count)

    def first_allowed(self, preference: Rows, count: int) -> Mask:
        """Remove the first `count` of the free rows, taken in order of preference, that the constraints let go."""
        self.check(count)
        limit = self.quotas(count) if self.proportional else self.capacity
        classes = self.labels[preference]
        allowed = preference[rank_within(classes) < limit[classes]]  # rows beyond their class's limit stay
        return mask_of(allowed[:count], len(self.labels))

    def violations(self, removed: Mask) -> list[str]:
        """Say in words what is wrong with a removal; empty if it is allowed."""
        found = []
        if (removed & self.pinned).any():
            found.append(f"{int((removed & self.pinned).sum())} pinned rows were removed")
        gone = np.bincount(self.labels[removed], minlength=self.n_classes)
        if (gone > self.capacity).any():
            c = int(np.argmax(gone - self.capacity))
            found.append(f"class {c} lost {gone[c]} examples, {self.capacity[c]} may go")
        if self.proportional and (gone != self.quotas(int(removed.sum()))).any():
            found.append("the classes did not lose examples in proportion")
        return found

    def check(self, count: int) -> None:
        """Raise if `count` examples cannot go."""
        if count > self.most:
            raise InputError(
                f"{count:,} examples cannot go: {int(self.pinned.sum()):,} of {len(self.labels):,} are pinned and each class "
                f"keeps at least {self.least_kept}, so at most {self.most:,} may. Lower the budget or unpin rows."
            )
