"""Strata of difficulty, and how a budget is divided among them (Zheng et al. 2023)."""

import numpy as np

from leanset._arrays import Rows, Vector, rank_within
from leanset.scores.contract import ascending

# About the cut-offs that the paper tuned for CIFAR-10 with AUM, with straight lines in between. Harder data had larger
# ones: CIFAR-100 up to half of all examples at 90 % removed.
_REMOVED = (0.5, 0.7, 0.8, 0.9)
_CUT = (0.0, 0.1, 0.1, 0.3)


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
    easiest_first, n = ascending(difficulty, rng), len(difficulty)
    staying = n - min(count, int(cut * n + 1e-9))
    hardest, rest = easiest_first[staying:], easiest_first[:staying]
    stratum = np.full(n, strata, dtype=np.int64)
    stratum[rest] = stratum_of(difficulty[rest], strata)
    budgets = stratum_budgets(np.bincount(stratum[rest], minlength=strata), n - count)
    shuffled = rng.permutation(rest)
    leaves = rank_within(stratum[shuffled]) >= budgets[stratum[shuffled]]
    return np.concatenate([hardest[::-1], shuffled[leaves], shuffled[~leaves]]), stratum
