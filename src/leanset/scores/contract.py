"""What every pruning method of the literature has in common.

A method sees evidence about the examples and says in which order they should go. How many go, which classes must keep
their share and which rows are pinned is decided outside, by the constraints, in the same way for all methods.
"""

import abc
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset._errors import InputError
from leanset.training import Dynamics

End = Literal["low", "high"]
Need = Literal["features", "probability", "dynamics", "gradient_norm", "influence_norm"]
Needs = tuple[Need | tuple[Need, ...], ...]  # an inner tuple: any one of these will do, the best first

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

    Examples
    --------
    >>> evidence = Evidence(labels=np.array([0, 1, 0]), gradient_norm=np.array([2.0, 1.0, 3.0]))
    >>> len(evidence.take(np.array([0, 2])))
    2
    """

    labels: Rows
    features: AnyArray | None = None
    probability: Matrix | None = None
    dynamics: tuple[Dynamics, ...] | None = None
    gradient_norm: Vector | None = None
    influence_norm: Vector | None = None

    def __post_init__(self) -> None:
        arrays = {name: getattr(self, name) for name in ("features", "probability", "gradient_norm", "influence_norm")}
        sizes = {name: len(value) for name, value in arrays.items() if value is not None}
        sizes |= {f"dynamics[{k}]": record.correct.shape[1] for k, record in enumerate(self.dynamics or ())}
        if wrong := {name: size for name, size in sizes.items() if size != len(self)}:
            raise InputError(f"`Evidence(...)` has {len(self):,} labels, but its other parts have {wrong} rows.")

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

    def has(self, need: Need) -> bool:
        """Whether something was recorded."""
        value = getattr(self, need)
        return value is not None and (need != "dynamics" or len(value) > 0)

    def check(self, method: str, needs: Needs) -> None:
        """Raise if a method needs what is not there."""
        for need in needs:
            choices = need if isinstance(need, tuple) else (need,)
            if not any(self.has(choice) for choice in choices):
                wanted = " or ".join(choice.replace("_", " ") for choice in choices)
                advice = "".join(f"; {_HOW_TO_GET[choice]}" for choice in choices if choice in _HOW_TO_GET)
                raise InputError(f"`method={method!r}` needs {wanted}, which was not recorded{advice}.")


class Method(abc.ABC):
    """A way to order examples for removal; final classes are frozen dataclasses of their options.

    The public verbs check the evidence once; final classes fill in `_order`, or `_values` if they are a `Score`.
    """

    name: ClassVar[str]
    needs: ClassVar[Needs] = ()

    def all_needs(self) -> Needs:
        """Return what this method needs, with what the methods it is built from need."""
        return self.needs

    def preference(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        """Return all rows of the evidence, the first to go first.

        Parameters
        ----------
        evidence : about the rows that may go; of one class only, when classes keep their share
        count : how many of them will go
        rng : for ties and draws
        """
        evidence.check(self.name, self.all_needs())
        if not 0 <= count <= len(evidence):
            raise InputError(f"`preference(count={count})` must lie in 0..{len(evidence)}, the number of rows.")
        return self._order(evidence, count, rng) if len(evidence) else np.zeros(0, dtype=np.int64)

    def scores(self, evidence: Evidence) -> Vector | None:
        """Return one number a row where the method has one that does not depend on the count, else None."""
        return None

    @abc.abstractmethod
    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows: ...


class Score(Method):
    """A method that is one number an example, and an end of the scale that goes first.

    Final classes have the field `remove`, whose default is the end that the literature removes, and say with `hard` at
    which end the hard examples are (None: the number does not measure difficulty).
    """

    remove: End
    hard: ClassVar[End | None] = None

    def scores(self, evidence: Evidence) -> Vector:
        """Return one number a row."""
        evidence.check(self.name, self.all_needs())
        values = np.asarray(self._values(evidence), dtype=np.float64)
        if strange := int((~np.isfinite(values)).sum()):
            raise InputError(
                f"`method={self.name!r}` has no finite score for {strange:,} of {len(values):,} rows: they were never "
                "trained on, or the recorded evidence is not finite."
            )
        return values

    def difficulty(self, evidence: Evidence) -> Vector:
        """Return the scores with a sign such that more is harder."""
        if self.hard is None:
            raise InputError(f"`{type(self).__name__}()` does not say which examples are hard; use EL2N(), AUM(), ...")
        return self.scores(evidence) if self.hard == "high" else -self.scores(evidence)

    @abc.abstractmethod
    def _values(self, evidence: Evidence) -> Vector: ...

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        values = self.scores(evidence)
        return ascending(values if self.remove == "low" else -values, rng)


def ascending(values: Vector, rng: np.random.Generator) -> Rows:
    """Return the rows by value; ties are broken at random, so that they do not follow the order of the file."""
    shuffled = rng.permutation(len(values))
    return shuffled[np.argsort(values[shuffled], kind="stable")]


def checked_end(method: str, remove: str) -> None:
    """Raise unless the end to remove is one of the two."""
    if remove not in ("low", "high"):
        raise InputError(f"`{method}(remove={remove!r})` must be 'low' or 'high': the end of the scale that goes.")


def checked_whole(method: str, **options: int) -> None:
    """Raise unless every option is a whole number of at least 1."""
    for name, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"`{method}({name}={value!r})` must be a whole number of at least 1.")


def checked_positive(method: str, **options: float) -> None:
    """Raise unless every option is a finite number above 0."""
    for name, value in options.items():
        if not 0 < value < np.inf:
            raise InputError(f"`{method}({name}={value!r})` must be a positive number.")
