import numpy as np

from leanset._arrays import Vector
from leanset.scores.contract import Evidence


def error_norms(evidence: Evidence) -> Vector:
    """Return the norm of the head's error on each row."""
    assert evidence.errors is not None  # checked by the methods that need it
    return np.asarray(np.linalg.norm(np.asarray(evidence.errors, dtype=np.float64), axis=1))
