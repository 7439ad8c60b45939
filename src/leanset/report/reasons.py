import numpy as np

from leanset._arrays import AnyArray, Mask, Vector
from leanset.certify import Certificate
from leanset.problem import Outcome

PINNED, RANDOM, DOUBTED = "pinned", "random", "label suspect"
MUCH, BALANCE, LITTLE, CANCELLED = "much influence", "balance", "little influence", "cancelled"


def reasons(
    certificate: Certificate, kept: Mask, pinned: Mask, influence_norm: Vector, score: Vector, suspect: Mask
) -> AnyArray:
    """Say in a few words why each row was kept or removed.

    A search chooses a set, not rows one by one; so a reason only says where a row stands: whether its own influence is in
    the upper half of all. Rows with much influence can go where their influences cancel, and rows with little can stay
    where the balance needs them. For a method of the literature the reason is its score.

    Examples
    --------
    >>> import leanset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 80)
    >>> result = leanset.prune(rng.normal(size=(80, 3)) + y[:, None], y, count=20, pinned=[3], frontier=False)
    >>> str(result.reasons[3]), sorted(set(result.reasons[result.removed]))
    ('pinned', ['cancelled', 'cancelled (label suspect)', 'little influence'])
    """
    if certificate.outcome == Outcome.scored.value:
        said = np.array([_scored(certificate.method, each) for each in score.tolist()], dtype=object)
    elif certificate.outcome == Outcome.random.value:
        said = np.full(len(kept), RANDOM, dtype=object)
    else:
        upper = influence_norm > np.median(influence_norm)
        said = np.where(kept, np.where(upper, MUCH, BALANCE), np.where(upper, CANCELLED, LITTLE)).astype(object)
    said[pinned & kept] = PINNED
    said[suspect] += f" ({DOUBTED})"
    return said


def _scored(method: str, score: float) -> str:
    return f"{method} {score:.4g}" if np.isfinite(score) else method
