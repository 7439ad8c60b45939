from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Vector
from leanset.scores._products import centred, squared_lengths
from leanset.scores.contract import End, Evidence, Needs, Score, checked_end


@dataclass(frozen=True)
class Moderate(Score):
    """How far an example's distance to the centre of its group is from the group's median distance (Xia et al. 2023).

    Centres and medians are computed for each group (class) by itself. High (removed by default): the most typical
    examples and the outliers. Low: examples at an average distance.

    Examples
    --------
    >>> evidence = Evidence(groups=np.zeros(5, dtype=int), features=np.array([[-4.0], [-1.0], [0.0], [1.0], [4.0]]))
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
        for group in np.unique(evidence.groups):
            rows = np.flatnonzero(evidence.groups == group)
            distance = np.sqrt(squared_lengths(centred(evidence.features[rows])))
            values[rows] = np.abs(distance - np.median(distance))
        return values
