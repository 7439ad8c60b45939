from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Rows
from leanset.scores._groups import group_by_group
from leanset.scores.contract import Evidence, Method


@dataclass(frozen=True)
class Random(Method):
    """Remove examples uniformly at random: the baseline that every method has to beat.

    Examples
    --------
    >>> evidence = Evidence(groups=np.zeros(4, dtype=int))
    >>> sorted(Random().preference(evidence, 2, np.random.default_rng(0)).tolist())
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "random"

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        return rng.permutation(len(evidence))


@dataclass(frozen=True)
class StratifiedRandom(Method):
    """Remove the same share of every group (class) at random, whatever the constraints are.

    Shares are rounded by largest remainder. Beyond 70 % removed this baseline is hard to beat.

    Examples
    --------
    >>> evidence = Evidence(groups=np.array([0, 0, 0, 0, 1, 1]))
    >>> order = StratifiedRandom().preference(evidence, 3, np.random.default_rng(0))
    >>> np.bincount(evidence.groups[order[:3]]).tolist()
    [2, 1]
    """

    name: ClassVar[str] = "stratified-random"

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        return group_by_group(evidence.groups, count, rng, lambda rows, _: rows)
