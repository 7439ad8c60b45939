"""Which examples a set must keep so that a network can learn from it, regardless of the effect on the head.

A retrained network learns its features from the kept examples. Balanced influences on a head with fixed features say
nothing about that. With far more examples than weights there are many balanced sets; coverage restricts the search to
those from which a network learns well.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Mask, Rows, Vector, mask_of, quantile_bins
from leanset._errors import InputError
from leanset.problem import Constraints
from leanset.scores import AUM, DynUnc, Evidence, checked_whole, drawn, kept_shares, share_wrong

# The rule, by the room there is for what is hard: the examples that stay for each one that the network got wrong; linear in
# between. Chosen with the network `quick` on 40,000 and 10,000 training images of CIFAR-10 and judged on 10,000 others of
# them; test images played no part. `python -m benchmarks rule` does it again.
_ROOM = (0.55, 1.1, 2.75)
_CENTRE = (0.35, 0.6, 0.85)
_SPREAD = (0.2, 0.25, 0.35)
_SWING = (8.0, 8.0, 1.0)
_SURE = 9  # epochs after the first, of the network with which these numbers were chosen
# Share of correctly labelled examples that a network confidently assigns to another class. Measured with conv4 after ten
# epochs on 10,000 images of CIFAR-10: 0.11 with correct labels, 0.14 with 9 % and 0.40 with 40 % wrong.
_HARD_ANYWAY = 0.15


@dataclass(frozen=True)
class LearningRecord:
    """What a recorded training says about the examples.

    Attributes
    ----------
    difficulty : (n,) higher is harder (`leanset.scores.AUM`)
    swing : (n,) how much the probability of the label swings (`leanset.scores.DynUnc`)
    wrong : share of wrong answers (`leanset.scores.share_wrong`)
    later_epochs : number of recorded epochs after the first of their run, of all runs
    """

    difficulty: Vector
    swing: Vector
    wrong: float
    later_epochs: int

    @classmethod
    def of(cls, evidence: Evidence) -> "LearningRecord":
        """Return the record of the trainings in `evidence`."""
        later = sum(run.epochs - 1 for run in evidence.dynamics or ())
        return cls(AUM().difficulty(evidence), DynUnc().scores(evidence), share_wrong(evidence), later)


@dataclass(frozen=True)
class _Part:
    """The examples of one class, or all of them, and what is to happen to them.

    Attributes
    ----------
    rest, hardest : row numbers, the easiest first; the hardest are cut off
    quota : number of rows to remove
    shares : how likely each of the rest is to stay
    """

    rest: Rows
    hardest: Rows
    quota: int
    shares: Vector


@dataclass(frozen=True)
class Coverage:
    """Keep examples from which a network learns, as hard as it can afford, and balance influences among such sets.

    Two things are known about an example from a recorded training: its difficulty (`leanset.scores.AUM`) and how much the
    probability of its label swings (`leanset.scores.DynUnc`). What is learnt at once, or never, does not swing; what
    swings is where there is something to learn. Each example stays with a probability that is proportional to

        exp(−(u − `centre`)² / 2·`spread`²) · swing^`swing`,

    but at most one, where u runs from 0 for the easiest example of a class to 1 for the hardest. What is hard can only be
    learnt from many others. So the three numbers follow the room there is: the share that stays, divided by the share of
    answers that were wrong in the recorded training. With much room the easiest go. With little the hardest go too, whether
    few stay, there were few to begin with, the training is short, or labels are wrong. In few epochs a swing is mostly
    chance, so that its power is then less.

    The search then exchanges only examples of the same class, difficulty, probability and weight (the length of the
    influence vector), each split into bins. So balance comes from directions that cancel, and not from preferring unusual
    examples.

    Parameters
    ----------
    strata : bins of difficulty
    bins : bins of probability within a stratum, and of weight within each of these
    centre : difficulty that is most likely to stay, from 0 to 1; None follows the room
    spread : how far the difficulties that stay lie from it; None follows the room
    swing : power of the swing, 0 to ignore it; None follows the room, and is less if fewer than ten epochs were recorded
    cut : share of hardest examples to remove first, never more than the number to remove
    suspects : True if labels may be wrong: if the network confidently disagrees with more than 0.15 of them, also cut the
        excess. Off by default, because a network that has not learnt much also disagrees with correct labels

    Examples
    --------
    >>> rules = Constraints(np.zeros(10, int), 1, np.zeros(10, bool), proportional=True)
    >>> coverage = Coverage(strata=4, cut=0.2)
    >>> record = LearningRecord(difficulty=np.arange(10.0), swing=np.ones(10), wrong=0.2, later_epochs=9)
    >>> removed, cells = coverage.start(record, rules, 6, np.random.default_rng(0))
    >>> bool(removed[8:].all())  # the two hardest are removed
    True
    """

    strata: int = 10
    bins: int = 4
    centre: float | None = None
    spread: float | None = None
    swing: float | None = None
    cut: float = 0.0
    suspects: bool = False

    def __post_init__(self) -> None:
        checked_whole("Coverage", strata=self.strata, bins=self.bins)
        if not 0 <= self.cut < 1:
            raise InputError(f"`Coverage(cut={self.cut})` must lie in 0 <= cut < 1.")
        for name, least in (("centre", -math.inf), ("spread", 0.0), ("swing", -math.inf)):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > least):
                legal = "positive" if least == 0 else "finite"
                raise InputError(
                    f"`Coverage({name}={value})` must be a {legal} number, or None to follow the room for what is hard."
                )

    def doubted(self, disputed: float) -> float:
        """Return the share to cut because labels may be wrong, given the share that the network disputes."""
        return max(0.0, disputed - _HARD_ANYWAY) if self.suspects else 0.0

    def log_weights(self, record: LearningRecord, rows: Rows, removed: float) -> Vector:
        """Return the logarithm of how likely examples are to stay, up to a constant, if a share of them is removed.

        Parameters
        ----------
        record : what a training said about all examples
        rows : examples of one class, the easiest first
        removed : share removed
        """
        room = (1 - removed) / record.wrong if record.wrong > 0 else math.inf
        centre, spread, power = (float(np.interp(room, _ROOM, values)) for values in (_CENTRE, _SPREAD, _SWING))
        # The noise of a standard deviation falls with the number of values after the first of each run. Where it is most of
        # what one sees, the power that predicts best rises in proportion. Short trainings then choose more of what long ones
        # do (`python -m benchmarks chooser`, "in common"), and no worse (`python -m benchmarks rule`).
        power *= min(1.0, record.later_epochs / _SURE)
        given = (self.centre, self.spread, self.swing)
        usual = (centre, spread, power)
        centre, spread, power = (now if own is None else own for own, now in zip(given, usual, strict=True))
        place = (np.arange(len(rows)) + 0.5) / max(len(rows), 1)
        swings = np.log(np.maximum(record.swing[rows], np.finfo(np.float64).tiny))
        return np.asarray(power * swings - ((place - centre) / spread) ** 2 / 2)

    def probabilities(
        self,
        record: LearningRecord,
        constraints: Constraints,
        count: int,
        rng: np.random.Generator,
        disputed: float = 0.0,
    ) -> Vector:
        """Return how likely each example is to stay, (n,), whatever the least number is that a class must keep.

        The parameters are those of `start`.
        """
        likely = constraints.pinned.astype(np.float64)
        for part in self._parts(record, constraints, count, rng, disputed):
            likely[part.rest] = part.shares
        return likely

    def start(
        self,
        record: LearningRecord,
        constraints: Constraints,
        count: int,
        rng: np.random.Generator,
        disputed: float = 0.0,
    ) -> tuple[Mask, Rows]:
        """Draw a set to start from; return it and the cells within which rows may be exchanged.

        Parameters
        ----------
        record : what a training said about the examples
        constraints : which removals are allowed; if they are proportional, each class is drawn separately
        count : number of examples to remove
        rng : random generator of the draw, and of the order of examples that are equally hard
        disputed : share of examples with whose label a network confidently disagrees
        """
        n = len(record.difficulty)
        stratum, likely, orders, quotas = np.zeros(n, dtype=np.int64), np.zeros(n), [], []
        for nth, part in enumerate(self._parts(record, constraints, count, rng, disputed)):
            staying = len(part.rest)
            stratum[part.hardest] = nth * (self.strata + 1) + self.strata
            stratum[part.rest] = nth * (self.strata + 1) + np.arange(staying) * self.strata // max(staying, 1)
            likely[part.rest] = part.shares
            stays = mask_of(drawn(part.shares, rng), staying)
            goes_first = (part.hardest[::-1], rng.permutation(part.rest[~stays]), rng.permutation(part.rest[stays]))
            orders.append(np.concatenate(goes_first))
            quotas.append(part.quota)
        cells = quantile_bins(likely, stratum, self.bins)
        if constraints.proportional:
            chosen = [order[:quota] for order, quota in zip(orders, quotas, strict=True)]
            return mask_of(np.concatenate(chosen), n), cells
        return constraints.first_allowed(orders[0], count), cells

    def _parts(
        self, record: LearningRecord, constraints: Constraints, count: int, rng: np.random.Generator, disputed: float
    ) -> Iterator[_Part]:
        free, groups = constraints.free, constraints.groups
        if constraints.proportional:
            members_and_quotas = [
                (free[groups[free] == c], int(quota)) for c, quota in enumerate(constraints.quotas(count))
            ]
        else:
            members_and_quotas = [(free, count)]
        cut = max(self.cut, self.doubted(disputed))
        for members, quota in members_and_quotas:
            easiest_first = members[np.lexsort((rng.random(len(members)), record.difficulty[members]))]
            staying = len(members) - min(quota, int(cut * len(members) + 1e-9))
            rest, hardest = easiest_first[:staying], easiest_first[staying:]
            weights = self.log_weights(record, rest, quota / max(len(members), 1))
            yield _Part(rest, hardest, quota, kept_shares(weights, len(members) - quota))
