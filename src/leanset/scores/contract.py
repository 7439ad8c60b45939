"""What every pruning method of the literature has in common.

A method sees evidence about the examples and says in which order they should go. How many go, which classes must keep
their share and which rows are pinned is decided outside, by the constraints, in the same way for all methods.
"""

import abc
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset._errors import InputError
from leanset.training import Dynamics

End = Literal["low", "high"]
Need = Literal["features", "probability", "dynamics", "gradient_norm", "influence_norm"]

_HOW_TO_GET = {
    "dynamics": "record a training run (`leanset.torch.train`, or `leanset prune` on images with --model)",
    "gradient_norm": "measure them with `leanset.torch.gradient_norms`, or `leanset prune` on images with --model",
}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known about the examples; a field is None if it was not recorded.

    Attributes
    ----------
    labels : (n,) class codes
    features : (n, d) penultimate features
    probability : (n, C) the head's softmax probabilities
    dynamics : one record for each training run (seed)
    gradient_norm : (n,) norm of the whole network's gradient, averaged over seeds
    influence_norm : (n,) norm of the influence vector on the head
    """

    labels: Rows
    features: AnyArray | None = None
    probability: Matrix | None = None
    dynamics: tuple[Dynamics, ...] | None = None
    gradient_norm: Vector | None = None
    influence_norm: Vector | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Rows) -> "Evidence":
        """Return the evidence about some rows."""
        picked = {
            name: None if (value := getattr(self, name)) is None else value[rows]
            for name in ("features", "probability", "gradient_norm", "influence_norm")
        }
        records = None if self.dynamics is None else tuple(record.take(rows) for record in self.dynamics)
        return Evidence(labels=self.labels[rows], dynamics=records, **picked)

    def check(self, method: str, needs: Iterable[Need]) -> None:
        """Raise if a method needs what is not there."""
        for need in needs:
            if getattr(self, need) is None or (need == "dynamics" and not self.dynamics):
                advice = f"; {_HOW_TO_GET[need]}" if need in _HOW_TO_GET else ""
                raise InputError(f"`method={method!r}` needs {need.replace('_', ' ')}, which was not recorded{advice}.")


class Method(abc.ABC):
    """A way to order examples for removal; final classes are frozen dataclasses of their options."""

    name: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    within_class: ClassVar[bool] = False  # whether the method itself works class by class, balance or not

    @abc.abstractmethod
    def preference(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        """Return all rows of the evidence, the first to go first.

        Parameters
        ----------
        evidence : about the rows that may go; of one class only, when classes keep their share
        count : how many of them will go
        rng : for ties and draws
        """

    def scores(self, evidence: Evidence) -> Vector | None:
        """Return one number a row where the method has one that does not depend on the count, else None."""
        return None


class Score(Method):
    """A method that is one number an example, and an end of the scale that goes first.

    Final classes have the field `remove`, whose default is the end that the literature removes.
    """

    remove: End

    @abc.abstractmethod
    def scores(self, evidence: Evidence) -> Vector:
        """Return one number a row."""

    def preference(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        """Order by score; ties are broken at random, so that they do not follow the order of the file."""
        values = self.scores(evidence)
        shuffled = rng.permutation(len(values))
        signed = values[shuffled] if self.remove == "low" else -values[shuffled]
        return shuffled[np.argsort(signed, kind="stable")]


def checked_end(method: str, remove: str) -> None:
    """Raise unless the end to remove is one of the two."""
    if remove not in ("low", "high"):
        raise InputError(f"`{method}(remove={remove!r})` must be 'low' or 'high': the end of the scale that goes.")
