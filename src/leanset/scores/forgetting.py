from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset.scores._records import seed_mean
from leanset.scores.contract import End, Evidence, Needs, Score, checked_end


@dataclass(frozen=True)
class Forgetting(Score):
    """How often an example was forgotten: correct in one epoch, wrong in the next (Toneva et al. 2019).

    Averaged over training runs. An example that a run never learned counts as forgotten in every epoch, which is more
    than any other example can reach. Low (removed by default): learned once and never forgotten. High: forgotten often,
    or never learned.

    Examples
    --------
    >>> from leanset.data import Dynamics
    >>> correct = np.array([[True, True, False], [True, False, False], [True, True, False]])
    >>> numbers = np.ones((3, 3), np.float32)
    >>> runs = (Dynamics(correct, numbers, numbers, numbers),)
    >>> Forgetting().scores(Evidence(groups=np.zeros(3, dtype=int), dynamics=runs)).tolist()
    [0.0, 1.0, 3.0]

    References
    ----------
    Toneva et al., *An empirical study of example forgetting during deep neural network learning*, ICLR 2019.
    """

    name: ClassVar[str] = "forgetting"
    needs: ClassVar[Needs] = ("dynamics",)
    hard: ClassVar[End | None] = "high"

    remove: End = "low"

    def __post_init__(self) -> None:
        checked_end("Forgetting", self.remove)

    def _values(self, evidence: Evidence) -> Vector:
        return seed_mean(evidence, "correct", _forgotten)


def _forgotten(correct: Matrix) -> Vector:
    events = (np.diff(correct, axis=0) < 0).sum(axis=0)
    return np.where(correct.any(axis=0), events, len(correct)).astype(np.float64)
