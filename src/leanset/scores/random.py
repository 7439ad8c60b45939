from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Rows
from leanset.scores._classes import class_by_class
from leanset.scores.contract import Evidence, Method


@dataclass(frozen=True)
class Random(Method):
    """Remove examples uniformly at random: what every other method has to beat.

    Examples
    --------
    >>> evidence = Evidence(labels=np.zeros(4, dtype=int))
    >>> sorted(Random().preference(evidence, 2, np.random.default_rng(0)).tolist())
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "random"

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        return rng.permutation(len(evidence))


@dataclass(frozen=True)
class StratifiedRandom(Method):
    """Remove the same share of every class at random, whatever the constraints.

    Shares are rounded by largest remainder. Beyond 70 % removed, a hard baseline to beat.

    Examples
    --------
    >>> evidence = Evidence(labels=np.array([0, 0, 0, 0, 1, 1]))
    >>> order = StratifiedRandom().preference(evidence, 3, np.random.default_rng(0))
    >>> np.bincount(evidence.labels[order[:3]]).tolist()
    [2, 1]
    """

    name: ClassVar[str] = "stratified-random"

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        return class_by_class(evidence.labels, count, rng, lambda rows, _: rows)
