from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset.scores.aum import AUM
from leanset.scores.contract import Evidence, Method, Needs, Score, checked_difficulty, checked_whole
from leanset.scores.strata import covering_order, published_cut


@dataclass(frozen=True)
class CCS(Method):
    """Coverage-centric selection: keep some of every difficulty, except the hardest (Zheng et al. 2023).

    First the hardest examples go, a share of `cut`. The range of the remaining scores is split into `strata` of equal
    width. Each stratum keeps the same number of examples, drawn at random; the smallest stratum comes first, and what it
    cannot fill is passed on to the larger ones. What goes: the hardest, then easy examples from crowded strata.

    Parameters
    ----------
    score : measures difficulty; must know its hard end. Its `remove` is ignored
    cut : share of hardest examples to drop, never more than have to go; None takes about what the paper tuned for
        CIFAR-10: 0 up to 50 % removed, 0.1 at 70 and 80 %, 0.3 from 90 % on, and linear in between
    strata : number of strata

    Examples
    --------
    >>> from leanset.scores import GraNd
    >>> evidence = Evidence(groups=np.zeros(10, dtype=int), gradient_norm=np.arange(10.0))
    >>> order = CCS(score=GraNd(), cut=0.2, strata=4).preference(evidence, 6, np.random.default_rng(0))
    >>> sorted((evidence.gradient_norm[order[-4:]] // 2).tolist())  # of the 8 easiest, one from each quarter of the scale
    [0.0, 1.0, 2.0, 3.0]

    References
    ----------
    Zheng et al., *Coverage-centric coreset selection for high pruning rates*, ICLR 2023.
    """

    name: ClassVar[str] = "ccs"

    score: Score = field(default_factory=AUM)
    cut: float | None = None
    strata: int = 50

    def __post_init__(self) -> None:
        checked_whole("CCS", strata=self.strata)
        if self.cut is not None and not 0 <= self.cut < 1:
            raise InputError(f"`CCS(cut={self.cut})` must lie in 0 <= cut < 1, or be None for the paper's schedule.")
        checked_difficulty("CCS", self.score)

    def all_needs(self) -> Needs:
        """Return what the score needs."""
        return self.score.all_needs()

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        share = published_cut(count / len(evidence)) if self.cut is None else self.cut
        return covering_order(self.score.difficulty(evidence), count, share, self.strata, rng)[0]
