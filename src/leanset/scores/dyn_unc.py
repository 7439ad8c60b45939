from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset.scores._records import seed_mean, windows
from leanset.scores.contract import End, Evidence, Needs, Score, checked_end, checked_whole


@dataclass(frozen=True)
class DynUnc(Score):
    """Dynamic uncertainty: how much the label's probability swings within a few epochs (He et al. 2024).

    The standard deviation in each window of consecutive epochs, averaged over windows and runs. Low (removed by default):
    examples learned for good, or never learned. High: examples on which the network keeps changing its mind.

    Parameters
    ----------
    window : epochs per window; a shorter record is one window
    remove : the end of the scale that goes

    Examples
    --------
    >>> from leanset.data import Dynamics
    >>> swings = np.array([[1.0, 0.0], [1.0, 1.0]], np.float32)
    >>> runs = (Dynamics(swings > 0.5, swings, swings, swings),)
    >>> DynUnc().scores(Evidence(groups=np.zeros(2, dtype=int), dynamics=runs)).tolist()
    [0.0, 0.5]

    References
    ----------
    He et al., *Large-scale dataset pruning with dynamic uncertainty*, CVPR Workshops 2024.
    """

    name: ClassVar[str] = "dyn-unc"
    needs: ClassVar[Needs] = ("dynamics",)

    window: int = 10
    remove: End = "low"

    def __post_init__(self) -> None:
        checked_end("DynUnc", self.remove)
        checked_whole("DynUnc", window=self.window)

    def _values(self, evidence: Evidence) -> Vector:
        return seed_mean(evidence, "label_probability", self._mean_deviation)

    def _mean_deviation(self, probability: Matrix) -> Vector:
        return np.asarray(np.mean([part.std(axis=0) for part in windows(probability, self.window)], axis=0))
