from dataclasses import dataclass
from typing import ClassVar

from leanset._arrays import Vector
from leanset.scores.contract import End, Evidence, Needs, Score, checked_end


@dataclass(frozen=True)
class InfluenceScore(Score):
    """The norm of an example's own influence on the head's parameters (Koh & Liang 2017).

    Each example is judged alone. Influences that cancel each other are not seen; that is what `leanset.prune` adds. Low
    (removed by default): examples whose removal hardly moves the head. High: examples that move it most.

    Examples
    --------
    >>> import numpy as np
    >>> evidence = Evidence(groups=np.zeros(3, dtype=int), influence_norm=np.array([2.0, 1.0, 3.0]))
    >>> InfluenceScore().preference(evidence, 1, np.random.default_rng(0)).tolist()
    [1, 0, 2]

    References
    ----------
    Koh and Liang, *Understanding black-box predictions via influence functions*, ICML 2017.
    """

    name: ClassVar[str] = "influence"
    needs: ClassVar[Needs] = ("influence_norm",)
    hard: ClassVar[End | None] = "high"

    remove: End = "low"

    def __post_init__(self) -> None:
        checked_end("InfluenceScore", self.remove)

    def _values(self, evidence: Evidence) -> Vector:
        assert evidence.influence_norm is not None  # checked by `scores`
        return evidence.influence_norm
