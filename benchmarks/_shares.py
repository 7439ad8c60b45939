"""How likely each example is to stay by leanset's rule, and what it goes by."""

import numpy as np

from leanset._arrays import AnyArray, Vector
from leanset.evaluate import Study
from leanset.problem import Constraints
from leanset.scores import Evidence
from leanset.select import Coverage, LearningRecord


def learning_record(study: Study) -> LearningRecord:
    """Return what the network of a study recorded."""
    return LearningRecord.of(Evidence(groups=study.setup.images.labels, dynamics=study.statistics().dynamics))


def likely_to_stay(record: LearningRecord, labels: AnyArray, removed: float) -> Vector:
    """Return the probabilities of the default coverage if a share is removed and classes keep theirs, (n,)."""
    rules = Constraints(labels, int(labels.max()) + 1, np.zeros(len(labels), dtype=bool), proportional=True)
    return Coverage().probabilities(record, rules, round(removed * len(labels)), np.random.default_rng(0))
