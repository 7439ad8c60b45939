import numpy as np

from leanset._arrays import Vector
from leanset.head.softmax import error_rows
from leanset.scores.contract import Evidence


def error_norms(evidence: Evidence) -> Vector:
    """Return ‖p − y‖ of the head for each row."""
    assert evidence.probability is not None  # checked by the methods that need it
    errors = error_rows(np.asarray(evidence.probability, dtype=np.float64), evidence.labels)
    return np.asarray(np.linalg.norm(errors, axis=1))
