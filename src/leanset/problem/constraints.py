from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Rows, mask_of, rank_within, rounded_shares
from leanset._errors import InputError


@dataclass(frozen=True)
class Constraints:
    """Which removals are allowed, regardless of their effect on the head.

    Parameters
    ----------
    groups : (n,) group codes, such as the class of each example
    n_groups : number of groups
    pinned : (n,) True for rows that must stay
    proportional : remove the same share of every group
    least_kept : examples of each group that must stay, pinned ones included; at least 1, so that no group is lost

    Examples
    --------
    >>> rules = Constraints(np.array([0, 0, 0, 0, 1, 1]), 2, np.zeros(6, bool), proportional=True)
    >>> rules.quotas(3).tolist(), rules.most
    ([2, 1], 4)
    """

    groups: Rows
    n_groups: int
    pinned: Mask
    proportional: bool
    least_kept: int = 1

    @property
    def free(self) -> Rows:
        """Rows that may be removed."""
        return np.flatnonzero(~self.pinned)

    @property
    def capacity(self) -> Rows:
        """How many examples of each group may be removed."""
        sizes = np.bincount(self.groups, minlength=self.n_groups)
        unpinned = np.bincount(self.groups[self.free], minlength=self.n_groups)
        return np.maximum(np.minimum(unpinned, sizes - self.least_kept), 0)

    @property
    def most(self) -> int:
        """The largest number of examples that may be removed."""
        return int(self.capacity.sum())

    def quotas(self, count: int) -> Rows:
        """Return how many examples to remove from each group, `count` in total, in proportion to the group sizes.

        Groups that cannot lose their share (because of pinned rows) lose what they can and the others make up for it.
        When rounding, the largest remainders are rounded up.
        """
        self.check(count)
        sizes, room = np.bincount(self.groups, minlength=self.n_groups), self.capacity
        shares = np.zeros(self.n_groups)
        open_groups = room > 0
        while open_groups.any():
            rate = (count - shares[~open_groups].sum()) / sizes[open_groups].sum()
            full = open_groups & (rate * sizes >= room)
            if not full.any():
                shares[open_groups] = rate * sizes[open_groups]
                break
            shares[full] = room[full]
            open_groups &= ~full
        return rounded_shares(shares, count)

    def random_removal(self, count: int, rng: np.random.Generator) -> Mask:
        """Draw a random removal of `count` examples that the constraints allow."""
        return self.first_allowed(rng.permutation(self.free), count)

    def first_allowed(self, preference: Rows, count: int) -> Mask:
        """Remove the first `count` free rows, in order of preference, that the constraints allow."""
        self.check(count)
        limit = self.quotas(count) if self.proportional else self.capacity
        groups = self.groups[preference]
        allowed = preference[rank_within(groups) < limit[groups]]  # rows beyond their group's limit stay
        return mask_of(allowed[:count], len(self.groups))

    def violations(self, removed: Mask) -> list[str]:
        """Return the violated constraints in words; empty if the removal is allowed."""
        found = []
        if (removed & self.pinned).any():
            found.append(f"{int((removed & self.pinned).sum())} pinned rows were removed")
        gone = np.bincount(self.groups[removed], minlength=self.n_groups)
        if (gone > self.capacity).any():
            c = int(np.argmax(gone - self.capacity))
            found.append(f"group {c} lost {gone[c]} examples, but may lose only {self.capacity[c]}")
        if self.proportional and (gone != self.quotas(int(removed.sum()))).any():
            found.append("the groups did not lose examples in proportion to their sizes")
        return found

    def check(self, count: int) -> None:
        """Raise if `count` examples cannot be removed."""
        if count > self.most:
            raise InputError(
                f"{count:,} examples cannot be removed: {int(self.pinned.sum()):,} of {len(self.groups):,} are pinned and each "
                f"class or group keeps at least {self.least_kept}, so at most {self.most:,} can be. Lower the budget or "
                "unpin rows."
            )
