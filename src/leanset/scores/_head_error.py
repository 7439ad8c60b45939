import numpy as np

from leanset._arrays import Vector
from leanset.scores.contract import Evidence


def error_norms(evidence: Evidence) -> Vector:
    """Return ‖p − y‖ of the head for each row."""
    assert evidence.probability is not None  # checked by the methods that need it
    error = evidence.probability.astype(np.float64)  # a copy, or the evidence itself would change
    error[np.arange(len(evidence)), evidence.labels] -= 1.0
    return np.asarray(np.linalg.norm(error, axis=1))
