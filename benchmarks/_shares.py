"""How likely each example is to stay by leanset's rule."""

import numpy as np

from leanset._arrays import AnyArray, Vector
from leanset.problem import Constraints
from leanset.select import Coverage, LearningRecord


def likely_to_stay(record: LearningRecord, labels: AnyArray, removed: float) -> Vector:
    """Return the probabilities of the default coverage if a share is removed and classes keep theirs, (n,)."""
    rules = Constraints(labels, int(labels.max()) + 1, np.zeros(len(labels), dtype=bool), proportional=True)
    return Coverage().probabilities(record, rules, round(removed * len(labels)), np.random.default_rng(0))
