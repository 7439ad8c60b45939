from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Matrix, Rows, Vector
from leanset._errors import InputError
from leanset.scores._records import seed_mean, windows
from leanset.scores.contract import (
    End,
    Evidence,
    Needs,
    Score,
    ascending,
    checked_end,
    checked_positive,
    checked_whole,
)

_C = 15.0  # the paper's constant: the two parameters of the Beta distribution add up to C + 1
_TOP = 10  # μ is the mean probability of this many examples with the highest scores
_EDGE = 1e-6  # float32 probabilities reach 0 and 1, where a Beta density may vanish


@dataclass(frozen=True)
class DUAL(Score):
    """Difficulty and uncertainty of the label's probability early in training (Cho et al. 2025).

    In each window of consecutive epochs: the standard deviation of the label's probability times one minus its mean;
    averaged over windows and runs. Low (removed by default): examples learned early and for good. High: uncertain and
    hard examples.

    With `beta_sampling` the examples that stay are drawn without replacement. The probability is proportional to the
    score times the Beta(α, β) density at the example's mean label probability, where β = C·(1 − μ)·(1 − r^`power`),
    α = C + 1 − β, C = 15, r is the share that goes and μ the mean label probability of the ten highest scores. The
    larger r, the easier the examples that stay. The constants are believed to be those of the authors' experiments (see
    docs/scores.md). Differences: several runs are averaged, and β is at least 1, so that the density stays bounded as r
    approaches 1.

    Parameters
    ----------
    window : epochs per window; a shorter record is one window
    epochs : how many recorded epochs to read, from the first; the paper reads 30 on CIFAR. None reads all
    beta_sampling : draw what stays, instead of keeping the highest scores
    power : how late the shift to easy examples starts; 5.5 is meant for CIFAR-10, 4 for CIFAR-100, 11 for ImageNet
    remove : the end of the scale that goes; must be "low" with sampling, which keeps high scores

    Examples
    --------
    >>> from leanset.data import Dynamics
    >>> swings = np.array([[1.0, 0.0], [1.0, 1.0]], np.float32)
    >>> runs = (Dynamics(swings > 0.5, swings, swings, swings),)
    >>> DUAL().scores(Evidence(groups=np.zeros(2, dtype=int), dynamics=runs)).tolist()
    [0.0, 0.25]

    References
    ----------
    Cho et al., *Lightweight dataset pruning without full training via example difficulty and prediction uncertainty*,
    ICML 2025.
    """

    name: ClassVar[str] = "dual"
    needs: ClassVar[Needs] = ("dynamics",)

    window: int = 10
    epochs: int | None = 30
    beta_sampling: bool = True
    power: float = 5.5
    remove: End = "low"

    def __post_init__(self) -> None:
        checked_end("DUAL", self.remove)
        checked_whole("DUAL", window=self.window, epochs=1 if self.epochs is None else self.epochs)
        checked_positive("DUAL", power=self.power)
        if self.beta_sampling and self.remove == "high":
            raise InputError(
                "`DUAL(remove='high')` keeps low scores, but sampling keeps high ones; pass `beta_sampling=False` too."
            )

    def _values(self, evidence: Evidence) -> Vector:
        return seed_mean(evidence, "label_probability", self._mean_product)

    def _mean_product(self, probability: Matrix) -> Vector:
        parts = windows(probability[: self.epochs], self.window)
        return np.asarray(np.mean([part.std(axis=0) * (1.0 - part.mean(axis=0)) for part in parts], axis=0))

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        if not self.beta_sampling:
            return super()._order(evidence, count, rng)
        values = self.scores(evidence)
        mean = seed_mean(evidence, "label_probability", lambda p: np.asarray(p[: self.epochs].mean(axis=0)))
        with np.errstate(divide="ignore"):  # a score of 0 is drawn only when no other is left
            weight = np.log(values) + self._log_density(mean, values, count / len(evidence))
        # The largest values of log weight + Gumbel noise are a sample without replacement (Efraimidis & Spirakis 2006).
        return ascending(weight + rng.gumbel(size=len(weight)), rng)

    def _log_density(self, mean: Vector, values: Vector, removed_share: float) -> Vector:
        alpha, beta = self._beta(float(mean[np.argsort(values)[-_TOP:]].mean()), removed_share)
        inner = np.clip(mean, _EDGE, 1.0 - _EDGE)
        return np.asarray((alpha - 1.0) * np.log(inner) + (beta - 1.0) * np.log1p(-inner))  # up to a constant

    def _beta(self, centre: float, removed_share: float) -> tuple[float, float]:
        beta = max(_C * (1.0 - centre) * (1.0 - removed_share**self.power), 1.0)
        return _C + 1.0 - beta, beta
