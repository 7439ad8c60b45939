from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Vector
from leanset.scores._records import seed_mean
from leanset.scores.contract import End, Evidence, Needs, Score, checked_end


@dataclass(frozen=True)
class AUM(Score):
    """Area under the margin: label's logit minus the largest other one, mean over epochs and runs (Pleiss et al. 2020).

    High (removed by default): easy examples, which the network always gets right by a wide margin. Low: hard examples
    and probably wrong labels; `AUM(remove="low")` cleans labels, as in the paper.

    Examples
    --------
    >>> from leanset.data import Dynamics
    >>> margin = np.array([[3.0, -1.0], [5.0, 1.0]], np.float32)
    >>> runs = (Dynamics(margin > 0, margin, margin, margin),)
    >>> AUM().scores(Evidence(groups=np.zeros(2, dtype=int), dynamics=runs)).tolist()
    [4.0, 0.0]

    References
    ----------
    Pleiss et al., *Identifying mislabeled data using the area under the margin ranking*, NeurIPS 2020.
    """

    name: ClassVar[str] = "aum"
    needs: ClassVar[Needs] = ("dynamics",)
    hard: ClassVar[End | None] = "low"

    remove: End = "high"

    def __post_init__(self) -> None:
        checked_end("AUM", self.remove)

    def _values(self, evidence: Evidence) -> Vector:
        return seed_mean(evidence, "margin", lambda margin: np.asarray(margin.mean(axis=0)))
