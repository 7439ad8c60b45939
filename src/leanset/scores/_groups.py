from collections.abc import Callable

import numpy as np

from leanset._arrays import Rows, rounded_shares


def group_by_group(groups: Rows, count: int, rng: np.random.Generator, order: Callable[[Rows, int], Rows]) -> Rows:
    """Order each group by itself, then mix the groups so that any first part has its share of each.

    Parameters
    ----------
    order : gets the rows of one group (shuffled, so that ties do not follow the file) and how many of them go;
        returns the same rows, the first to go first

    Returns
    -------
    All rows; the first `count` hold exactly the groups' quotas.
    """
    codes, sizes = np.unique(groups, return_counts=True)
    gone = rounded_shares(sizes * count / len(groups), count)
    ordered = [order(rng.permutation(np.flatnonzero(groups == g)), int(k)) for g, k in zip(codes, gone, strict=True)]
    ranks = [np.arange(size) for size in sizes]
    stays = np.concatenate([rank >= k for rank, k in zip(ranks, gone, strict=True)])
    depth = np.concatenate([(rank + 0.5) / len(rank) for rank in ranks])
    return np.concatenate(ordered)[np.lexsort((depth, stays))]


def unselected_first(selected: list[int], rest: Rows) -> Rows:
    """Return the rows left out in the given order, then the selected ones, the last selected first."""
    return np.concatenate([rest, np.asarray(selected[::-1], dtype=np.int64)])
