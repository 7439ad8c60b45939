"""Sums in one order, however the parts were computed."""

from collections.abc import Iterable
from typing import Any

import numpy as np

BLOCK_ROWS = 2**16  # rows of a block; what a worker of a cluster gets at once
GROUP = 16  # blocks, and then groups, that are added up at a time


def blocks_in(rows: int) -> list[slice]:
    """Return the blocks of so many rows.

    Examples
    --------
    >>> blocks_in(BLOCK_ROWS + 1)
    [slice(0, 65536, None), slice(65536, 65537, None)]
    """
    return [slice(start, min(start + BLOCK_ROWS, rows)) for start in range(0, rows, BLOCK_ROWS)]


class OrderedSum:
    """The sum of parts in groups of `GROUP`, then of these sums in groups of `GROUP`, and so on.

    On a cluster each group is added up by a worker, so only one sum travels to the client. Here the parts come one by one,
    and there is one open group for each level. Parts may be None, for no rows; they keep their place in the group.
    """

    def __init__(self) -> None:
        self._open: list[list[Any]] = []  # for each level, the sum so far and the number of parts in it

    def add(self, part: Any, level: int = 0) -> None:
        """Add the next part."""
        if level == len(self._open):
            self._open.append([None, 0])
        group = self._open[level]
        group[0] = summed((group[0], part))
        group[1] += 1
        if group[1] == GROUP:
            self._open[level] = [None, 0]
            self.add(group[0], level + 1)

    def total(self) -> Any:
        """Return the sum of all parts; None if there were none but None."""
        level = 0
        while level < len(self._open) - 1:
            part, count = self._open[level]
            if count:
                self._open[level] = [None, 0]
                self.add(part, level + 1)
            level += 1
        return self._open[-1][0] if self._open else None


def summed(parts: Iterable[Any]) -> Any:
    """Return the sum of parts from first to last, leaving out those that are None."""
    total: Any = None
    for part in parts:
        if part is not None:
            total = own(part) if total is None else added(total, part)
    return total


def own(part: Any) -> Any:
    """Return a first part that can be added to: a view of the table must not become the sum."""
    if isinstance(part, tuple):
        return tuple(map(own, part))
    return part.copy() if isinstance(part, np.ndarray) and part.base is not None else part


def added(total: Any, part: Any) -> Any:
    """Return a sum and one more part; the arrays of the sum are added to in place."""
    if isinstance(total, tuple):
        return tuple(added(one, other) for one, other in zip(total, part, strict=True))
    if isinstance(total, np.ndarray):
        total += part
        return total
    return total + part
