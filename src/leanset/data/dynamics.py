from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from leanset._errors import InputError


@dataclass(frozen=True)
class Dynamics:
    """The outputs of a network for each example in each epoch of one training run, just before it trains on the example.

    Every array is (epochs, n). Values are False or NaN for examples that were not trained on.

    Attributes
    ----------
    correct : whether the label had the largest logit
    label_probability : softmax probability of the label
    margin : logit of the label minus the largest other logit
    error_norm : ‖p − y‖₂, the norm of the error vector (EL2N)

    Examples
    --------
    >>> ones = np.ones((2, 3), np.float32)
    >>> Dynamics(ones > 0, ones, ones, ones).epochs
    2
    """

    correct: NDArray[np.bool_]
    label_probability: NDArray[np.float32]
    margin: NDArray[np.float32]
    error_norm: NDArray[np.float32]

    def __post_init__(self) -> None:
        shapes = {name: getattr(self, name).shape for name in self.names()}
        if len(set(shapes.values())) != 1 or len(self.correct.shape) != 2 or 0 in self.correct.shape:
            raise InputError(f"`Dynamics(...)` must contain non-empty (epochs, n) arrays of one shape; got {shapes}.")
        kinds = [getattr(self, name).dtype.kind for name in self.names()]
        if kinds != ["b", "f", "f", "f"]:
            raise InputError(f"`Dynamics(...)` must contain truth values and three arrays of floats; got {kinds}.")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the recorded quantities."""
        return tuple(item.name for item in fields(cls))

    @property
    def epochs(self) -> int:
        """Number of recorded epochs."""
        return len(self.correct)

    def take(self, rows: NDArray[np.int64]) -> "Dynamics":
        """Return the record of some examples."""
        return Dynamics(*(getattr(self, name)[:, rows] for name in self.names()))
