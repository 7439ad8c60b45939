from collections.abc import Callable

import numpy as np

from leanset._arrays import Rows, rounded_shares


def class_by_class(labels: Rows, count: int, rng: np.random.Generator, order: Callable[[Rows, int], Rows]) -> Rows:
    """Order each class by itself, then mix the classes so that any first part has its share of each.

    Parameters
    ----------
    order : from the rows of one class (shuffled, so that ties do not follow the file) and how many of them go to the
        same rows, the first to go first

    Returns
    -------
    All rows; the first `count` hold exactly the classes' quotas.
    """
    classes, sizes = np.unique(labels, return_counts=True)
    gone = rounded_shares(sizes * count / len(labels), count)
    ordered = [order(rng.permutation(np.flatnonzero(labels == c)), int(k)) for c, k in zip(classes, gone, strict=True)]
    ranks = [np.arange(size) for size in sizes]
    stays = np.concatenate([rank >= k for rank, k in zip(ranks, gone, strict=True)])
    depth = np.concatenate([(rank + 0.5) / len(rank) for rank in ranks])
    return np.concatenate(ordered)[np.lexsort((depth, stays))]


def unselected_first(selected: list[int], rest: Rows) -> Rows:
    """Return the rows left out in the order given, then the selected ones, the last selected first."""
    return np.concatenate([rest, np.asarray(selected[::-1], dtype=np.int64)])
