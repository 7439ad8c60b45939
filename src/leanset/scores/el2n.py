from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset._errors import InputError
from leanset.scores._head_error import error_norms
from leanset.scores._records import seed_mean
from leanset.scores.contract import End, Evidence, Needs, Score, checked_end, checked_whole


@dataclass(frozen=True)
class EL2N(Score):
    """The length of the error vector, ‖p − y‖, early in training (Paul et al. 2021).

    The paper takes it at epoch 10 or 20 of 200 and averages over 10 runs. Here it is averaged over all recorded runs and
    over the epochs `first` to `last` (inclusive, counted from 1). The default, 6 to 10, makes up for having fewer than ten
    runs. If the record is shorter, the same number of epochs at its end is used. Without recorded dynamics it is the norm
    of the fitted head's error, which is late rather than early evidence.

    Low (removed by default): examples that the network gets right early. High: hard or mislabelled examples.

    Parameters
    ----------
    first, last : the window of epochs
    remove : the end of the scale that goes

    Examples
    --------
    >>> evidence = Evidence(groups=np.array([0, 0]), errors=np.array([[0.0, 0.0], [-1.0, 1.0]]))
    >>> EL2N().scores(evidence).round(3).tolist()
    [0.0, 1.414]

    References
    ----------
    Paul, Ganguli and Dziugaite, *Deep learning on a data diet*, NeurIPS 2021.
    """

    name: ClassVar[str] = "el2n"
    needs: ClassVar[Needs] = (("dynamics", "errors"),)
    hard: ClassVar[End | None] = "high"

    first: int = 6
    last: int = 10
    remove: End = "low"

    def __post_init__(self) -> None:
        checked_end("EL2N", self.remove)
        checked_whole("EL2N", first=self.first, last=self.last)
        if self.first > self.last:
            raise InputError(f"`EL2N(first={self.first}, last={self.last})` must have `first` <= `last`.")

    def _values(self, evidence: Evidence) -> Vector:
        if not evidence.has("dynamics"):
            return error_norms(evidence)
        return seed_mean(evidence, "error_norm", self._window_mean)

    def _window_mean(self, errors: Matrix) -> Vector:
        end = min(self.last, len(errors))
        start = max(0, end - (self.last - self.first + 1))
        return np.asarray(errors[start:end].mean(axis=0))
