"""Drawing a sample of a given size in which some rows are more likely than others."""

import numpy as np

from leanset._arrays import Rows, Vector

_LEAST = -600.0  # logarithm of the smallest weight beside a weight of one; smaller ones would be zero in float64


def kept_shares(log_weight: Vector, keep: int) -> Vector:
    """Return how likely each row is to be among the `keep` that stay: in proportion to its weight, but at most one.

    Parameters
    ----------
    log_weight : (n,) logarithms of the weights; a common factor changes nothing
    keep : number of rows that stay, the sum of the probabilities

    Examples
    --------
    >>> kept_shares(np.log([1.0, 2.0, 9.0]), 2).round(3).tolist()  # the last one stays for certain
    [0.333, 0.667, 1.0]
    """
    n = len(log_weight)
    if keep <= 0 or keep >= n:
        return np.full(n, float(keep > 0))
    order = np.argsort(-log_weight, kind="stable")
    weight = np.exp(np.maximum(log_weight[order] - log_weight[order[0]], _LEAST))
    certain = np.arange(keep)  # how many of the heaviest stay for certain
    factor = (keep - certain) / np.cumsum(weight[::-1])[::-1][:keep]
    first = int(np.argmax(factor * weight[:keep] <= 1)) if (factor * weight[:keep] <= 1).any() else keep
    shares = np.ones(n)
    if first < keep:
        shares[order[first:]] = factor[first] * weight[first:]
    else:
        shares[order[keep:]] = 0.0
    return shares


def drawn(shares: Vector, rng: np.random.Generator) -> Rows:
    """Draw rows with these probabilities, which add up to a whole number: as many rows as that, evenly along the rows.

    Of any stretch of rows the number drawn is that of its probabilities, rounded up or down (systematic sampling).

    Examples
    --------
    >>> drawn(np.array([0.5, 0.5, 1.0, 0.0]), np.random.default_rng(0)).tolist()
    [0, 2]
    """
    reached = np.concatenate([[0.0], np.cumsum(shares)])
    keep = round(float(reached[-1]))
    reached = np.minimum(reached, keep)
    reached[-1] = keep
    return np.flatnonzero(np.diff(np.floor(reached + rng.random())) > 0)
