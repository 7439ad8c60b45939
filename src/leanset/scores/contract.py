"""What all pruning methods of the literature have in common.

A method sees evidence about the examples and returns the order in which they should go. How many go, which groups keep
their share and which rows are pinned is decided outside, by the constraints, in the same way for every method.
"""

import abc
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset._errors import InputError
from leanset.data import Dynamics

End = Literal["low", "high"]
Need = Literal["features", "errors", "dynamics", "gradient_norm", "influence_norm"]
Needs = tuple[Need | tuple[Need, ...], ...]  # an inner tuple: one of these is enough, the best comes first

_ARRAYS = ("features", "errors", "gradient_norm", "influence_norm")  # one row an example
_IN_WORDS: dict[Need, str] = {
    "features": "features",
    "errors": "the errors of a head",
    "dynamics": "dynamics",
    "gradient_norm": "gradient norms",
    "influence_norm": "influence norms",
}
_HOW_TO_GET: dict[Need, str] = {
    "dynamics": "record a training run with `leanset.torch.train`, or prune images, for which leanset trains a network",
    "gradient_norm": "measure them with `leanset.torch.gradient_norms`, or prune images, for which leanset trains a network",
}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known about the examples. A field is None if it was not recorded.

    Attributes
    ----------
    groups : (n,) code of the group each example belongs to: its class; for other targets a bin or a rarest label
    features : (n, d) inputs of the head
    errors : (n, C) what the head says minus what it should say: p − y for a softmax, the residual for other heads
    dynamics : one record for each training run (seed)
    gradient_norm : (n,) norm of the whole network's gradient, averaged over seeds
    influence_norm : (n,) norm of the influence vector on the head

    Examples
    --------
    >>> evidence = Evidence(groups=np.array([0, 1, 0]), gradient_norm=np.array([2.0, 1.0, 3.0]))
    >>> len(evidence.take(np.array([0, 2])))
    2
    """

    groups: Rows
    features: AnyArray | None = None
    errors: Matrix | None = None
    dynamics: tuple[Dynamics, ...] | None = None
    gradient_norm: Vector | None = None
    influence_norm: Vector | None = None

    def __post_init__(self) -> None:
        sizes = {name: len(value) for name in _ARRAYS if (value := getattr(self, name)) is not None}
        sizes |= {f"dynamics[{k}]": record.correct.shape[1] for k, record in enumerate(self.dynamics or ())}
        if wrong := {name: size for name, size in sizes.items() if size != len(self)}:
            raise InputError(f"`Evidence(groups=...)` has {len(self):,} rows, but other fields have {wrong}.")

    def __len__(self) -> int:
        return len(self.groups)

    def take(self, rows: Rows) -> "Evidence":
        """Return the evidence about some rows."""
        picked = {name: None if (value := getattr(self, name)) is None else value[rows] for name in _ARRAYS}
        records = None if self.dynamics is None else tuple(record.take(rows) for record in self.dynamics)
        return Evidence(groups=self.groups[rows], dynamics=records, **picked)

    def has(self, need: Need) -> bool:
        """Return whether a kind of evidence was recorded."""
        value = getattr(self, need)
        return value is not None and (need != "dynamics" or len(value) > 0)

    def check(self, method: str, needs: Needs) -> None:
        """Raise if a method needs evidence that was not recorded."""
        for need in needs:
            choices = need if isinstance(need, tuple) else (need,)
            if not any(self.has(choice) for choice in choices):
                wanted = " or ".join(_IN_WORDS[choice] for choice in choices)
                advice = "".join(f"; {_HOW_TO_GET[choice]}" for choice in choices if choice in _HOW_TO_GET)
                raise InputError(f"`method={method!r}` needs {wanted}, which were not recorded{advice}.")


class Method(abc.ABC):
    """A way to order examples for removal. Each method is a frozen dataclass of its options.

    The public functions check the evidence. A method implements `_order`, or `_values` if it is a `Score`.
    """

    name: ClassVar[str]
    needs: ClassVar[Needs] = ()

    def all_needs(self) -> Needs:
        """Return what this method needs, including the needs of a method it builds on."""
        return self.needs

    def preference(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        """Return all rows of the evidence, the first to go first.

        Parameters
        ----------
        evidence : about the rows that may go; only one group of them when groups keep their share
        count : how many of them will go
        rng : breaks ties and draws samples
        """
        evidence.check(self.name, self.all_needs())
        if not 0 <= count <= len(evidence):
            raise InputError(f"`preference(count={count})` must lie in 0..{len(evidence)}, the number of rows.")
        return self._order(evidence, count, rng) if len(evidence) else np.zeros(0, dtype=np.int64)

    def scores(self, evidence: Evidence) -> Vector | None:
        """Return one number per row, or None if the method has no number that is independent of the count."""
        return None

    @abc.abstractmethod
    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows: ...


class Score(Method):
    """A method that gives each example one number and removes one end of the scale first.

    Every score has a field `remove`; its default is the end that the literature removes. `hard` says at which end the
    hard examples are (None: the number does not measure difficulty).
    """

    remove: End
    hard: ClassVar[End | None] = None

    def scores(self, evidence: Evidence) -> Vector:
        """Return one number per row."""
        evidence.check(self.name, self.all_needs())
        values = np.asarray(self._values(evidence), dtype=np.float64)
        if bad := int((~np.isfinite(values)).sum()):
            raise InputError(
                f"`method={self.name!r}` has no finite score for {bad:,} of {len(values):,} rows: they were never "
                "trained on, or the recorded evidence is not finite."
            )
        return values

    def difficulty(self, evidence: Evidence) -> Vector:
        """Return the scores, with the sign changed if needed so that higher means harder."""
        if self.hard is None:
            raise InputError(
                f"`{type(self).__name__}()` does not say which examples are hard; use `AUM()` or `EL2N()`."
            )
        return self.scores(evidence) if self.hard == "high" else -self.scores(evidence)

    @abc.abstractmethod
    def _values(self, evidence: Evidence) -> Vector: ...

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        values = self.scores(evidence)
        return ascending(values if self.remove == "low" else -values, rng)


def ascending(values: Vector, rng: np.random.Generator) -> Rows:
    """Return the rows sorted by value. Ties are broken at random, so they do not follow the order of the file."""
    shuffled = rng.permutation(len(values))
    return shuffled[np.argsort(values[shuffled], kind="stable")]


def checked_end(method: str, remove: str) -> None:
    """Raise unless `remove` is "low" or "high"."""
    if remove not in ("low", "high"):
        raise InputError(f"`{method}(remove={remove!r})` must be 'low' or 'high': the end of the scale that goes.")


def checked_whole(method: str, **options: int) -> None:
    """Raise unless every option is a whole number ≥ 1."""
    for name, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"`{method}({name}={value!r})` must be a whole number ≥ 1.")


def checked_positive(method: str, **options: float) -> None:
    """Raise unless every option is a finite number > 0."""
    for name, value in options.items():
        if not 0 < value < np.inf:
            raise InputError(f"`{method}({name}={value!r})` must be a finite number > 0.")


def checked_difficulty(method: str, score: object) -> None:
    """Raise unless a score says which examples are hard."""
    if not isinstance(score, Score) or score.hard is None:
        raise InputError(f"`{method}(score={score})` must be a score that measures difficulty: `AUM()`, `EL2N()`, ...")
