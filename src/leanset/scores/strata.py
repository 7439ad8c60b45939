"""Strata of difficulty, and how a budget is divided among them (Zheng et al. 2023)."""

import numpy as np

from leanset._arrays import Rows, Vector, rank_within, rounded_shares
from leanset.scores.contract import ascending

# About the cut-offs that the paper tuned for CIFAR-10 with AUM, with straight lines in between. Harder data had larger
# ones: CIFAR-100 up to half of all examples at 90 % removed.
_REMOVED = (0.5, 0.7, 0.8, 0.9)
_CUT = (0.0, 0.1, 0.1, 0.3)
_HALVINGS = 60


def published_cut(removed: float) -> float:
    """Return the share of hardest examples to drop when the share `removed` goes: 0 up to 50 %, 0.3 from 90 % on.

    Examples
    --------
    >>> [round(published_cut(removed), 3) for removed in (0.4, 0.6, 0.8, 0.95)]
    [0.0, 0.05, 0.1, 0.3]
    """
    return float(np.interp(removed, _REMOVED, _CUT))


def stratum_budgets(sizes: Rows, budget: int) -> Rows:
    """Divide a budget evenly among strata, the smallest first. No stratum gets more than its size.

    Examples
    --------
    >>> stratum_budgets(np.array([10, 1, 4]), 9).tolist()
    [4, 1, 4]
    """
    budgets, left = np.zeros_like(sizes), budget
    for done, s in enumerate(np.argsort(sizes, kind="stable")):
        budgets[s] = min(sizes[s], left // (len(sizes) - done))
        left -= int(budgets[s])
    return budgets


def stratum_of(difficulty: Vector, strata: int) -> Rows:
    """Return each row's stratum. Strata have equal width in difficulty; stratum 0 is the easiest.

    Examples
    --------
    >>> stratum_of(np.array([0.0, 1.0, 9.0, 10.0]), 5).tolist()
    [0, 0, 4, 4]
    """
    low, width = difficulty.min(initial=np.inf), np.ptp(difficulty) if len(difficulty) else 0.0
    if width == 0:
        return np.zeros(len(difficulty), dtype=np.int64)
    return np.asarray(np.minimum((difficulty - low) / width * strata, strata - 1).astype(np.int64))


def covering_order(
    difficulty: Vector, count: int, cut: float, strata: int, rng: np.random.Generator
) -> tuple[Rows, Rows]:
    """Return all rows, the first to go first, and their strata. The rows left after `count` cover the strata evenly.

    Parameters
    ----------
    difficulty : (n,) more is harder
    count : how many will go
    cut : share of hardest rows that go first, never more than `count`; they form an extra, last stratum
    strata : number of strata for the other rows, of equal width in difficulty; within a stratum, rows go at random

    Examples
    --------
    >>> order, stratum = covering_order(np.arange(10.0), 6, 0.2, 4, np.random.default_rng(0))
    >>> order[:2].tolist(), sorted(stratum[order[6:]].tolist())
    ([9, 8], [0, 1, 2, 3])
    """
    rest, hardest = _without_hardest(difficulty, count, cut, rng)
    stratum = np.full(len(difficulty), strata, dtype=np.int64)
    stratum[rest] = stratum_of(difficulty[rest], strata)
    budgets = stratum_budgets(np.bincount(stratum[rest], minlength=strata), len(difficulty) - count)
    return _within_budgets(rest, hardest, stratum, budgets, rng), stratum


def tilted_order(
    difficulty: Vector, count: int, cut: float, strata: int, rng: np.random.Generator, tilt: float
) -> tuple[Rows, Rows]:
    """Return all rows, the first to go first, and their strata. Of the rows left, the harder half is the larger.

    The parameters are those of `covering_order`, but strata have equal sizes, and what they keep follows `kept_shares`.

    Examples
    --------
    >>> order, stratum = tilted_order(np.arange(8.0), 4, 0.0, 2, np.random.default_rng(0), tilt=3.0)
    >>> np.bincount(stratum[order[4:]]).tolist()  # of the easier and of the harder four
    [1, 3]
    """
    rest, hardest = _without_hardest(difficulty, count, cut, rng)
    stratum = np.full(len(difficulty), strata, dtype=np.int64)
    stratum[rest] = np.arange(len(rest)) * strata // max(len(rest), 1)
    keep = len(difficulty) - count
    wanted = np.bincount(stratum[rest], kept_shares(len(rest), keep, tilt), minlength=strata)
    return _within_budgets(rest, hardest, stratum, rounded_shares(wanted, keep), rng), stratum


def kept_shares(n: int, keep: int, tilt: float) -> Vector:
    """Return for each of n rows, the easiest first, how likely it is to be among the `keep` that stay.

    The probability is proportional to exp(tilt·u), where u runs from 0 for the easiest row to 1 for the hardest, but at
    most one. With a tilt of 0 all are alike.

    Examples
    --------
    >>> kept_shares(4, 2, 0.0).tolist()
    [0.5, 0.5, 0.5, 0.5]
    >>> kept_shares(4, 2, 3.0).round(2).tolist(), kept_shares(4, 2, 500.0).round(2).tolist()
    ([0.13, 0.28, 0.59, 1.0], [0.0, 0.0, 1.0, 1.0])
    """
    place = tilt * (np.arange(n) + 0.5) / max(n, 1)
    low, high = -abs(tilt) - 50.0, abs(tilt) + 50.0  # logarithm of the factor; at its ends nobody and everybody stays
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if np.exp(np.minimum(place + middle, 0)).sum() < keep else (low, middle)
    shares = np.exp(np.minimum(place + high, 0))
    return np.asarray(shares * (keep / max(shares.sum(), keep, 1)))


def _without_hardest(difficulty: Vector, count: int, cut: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Split the rows, the easiest first, into those that may stay and the hardest ones, which go."""
    easiest_first, n = ascending(difficulty, rng), len(difficulty)
    staying = n - min(count, int(cut * n + 1e-9))
    return easiest_first[:staying], easiest_first[staying:]


def _within_budgets(rest: Rows, hardest: Rows, stratum: Rows, budgets: Rows, rng: np.random.Generator) -> Rows:
    shuffled = rng.permutation(rest)
    leaves = rank_within(stratum[shuffled]) >= budgets[stratum[shuffled]]
    return np.concatenate([hardest[::-1], shuffled[leaves], shuffled[~leaves]])
