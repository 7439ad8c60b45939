from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Vector
from leanset.scores._products import centred, squared_lengths
from leanset.scores.contract import End, Evidence, Needs, Score, checked_end


@dataclass(frozen=True)
class Moderate(Score):
    """How far an example's distance to its class centre is from the class's median distance (Xia et al. 2023).

    High, what goes by default: both the most typical examples and the outliers. Low: examples of middling distance.
    Centres and medians are taken class by class, whatever the evidence holds.

    Examples
    --------
    >>> evidence = Evidence(labels=np.zeros(5, dtype=int), features=np.array([[-4.0], [-1.0], [0.0], [1.0], [4.0]]))
    >>> Moderate().scores(evidence).tolist()
    [3.0, 0.0, 1.0, 0.0, 3.0]

    References
    ----------
    Xia et al., *Moderate coreset: a universal method of data selection for real-world data-efficient deep learning*,
    ICLR 2023.
    """

    name: ClassVar[str] = "moderate"
    needs: ClassVar[Needs] = ("features",)

    remove: End = "high"

    def __post_init__(self) -> None:
        checked_end("Moderate", self.remove)

    def _values(self, evidence: Evidence) -> Vector:
        assert evidence.features is not None  # checked by `scores`
        values = np.empty(len(evidence))
        for c in np.unique(evidence.labels):
            rows = np.flatnonzero(evidence.labels == c)
            distance = np.sqrt(squared_lengths(centred(evidence.features[rows])))
            values[rows] = np.abs(distance - np.median(distance))
        return values
