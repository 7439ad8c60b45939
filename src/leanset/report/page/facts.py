"""What a page is made from: the facts of a run, and the material that shows what its rows are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from leanset._arrays import AnyArray, Mask, Rows, Vector, places_among
from leanset.certify import Certificate
from leanset.head import LOSSES

_BINS = 10  # groups of numeric targets


class Pictures(Protocol):
    """Pixels, (n, channels, height, width), that are read by row; they may be decoded only then."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all of them."""

    def __getitem__(self, rows: Rows) -> AnyArray: ...


@dataclass(frozen=True)
class Size:
    """One size of a frontier: the fields of `leanset.FrontierPoint`, which this room may not import."""

    removed: int
    fraction: float
    newton_change: float
    refit_change: float
    random_refit_change: float
    random_refit_change_low: float | None
    random_refit_change_high: float | None
    validation_loss_gap: float | None
    random_validation_loss_gap: float | None
    same_answers: float | None
    random_same_answers: float | None


@dataclass(frozen=True)
class Material:
    """What the rows of a run look like; each part is in the order of the run's rows, and may be missing.

    Attributes
    ----------
    features : (n, d) numbers
    columns : names of the features
    pictures : images
    texts : one text for each row
    names : one name for each row, such as its file
    labels : labels with better names than those of the run, such as "cat" for 3
    """

    features: AnyArray | None = None
    columns: Sequence[str] = ()
    pictures: Pictures | None = None
    texts: Sequence[str] | None = None
    names: Sequence[str] | None = None
    labels: AnyArray | None = None

    @property
    def is_table(self) -> bool:
        """Whether the features are all that can be shown of a row."""
        return self.pictures is None and self.texts is None and self.features is not None


@dataclass(frozen=True)
class RunFacts:
    """A finished run, as plain values.

    Attributes
    ----------
    certificate, frontier, settings : of the run
    rows, labels, weight, influence_norm, label_probability, suspect, score : as in `PruneResult`
    kept : (n,) True for kept rows
    dropped : number of rows left out before the search
    command : the command that repeats the run
    used : which columns of a table were used for what; "" if there were none
    """

    certificate: Certificate
    frontier: Sequence[Size]
    settings: dict[str, Any]
    rows: Rows
    labels: AnyArray
    kept: Mask
    weight: Vector
    influence_norm: Vector
    label_probability: Vector
    suspect: Mask
    score: Vector
    dropped: int = 0
    command: str = ""
    used: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def has_score(self) -> bool:
        """Whether the method gave scores."""
        return bool(np.isfinite(self.score).any())

    @property
    def targets(self) -> str:
        """The kind of the targets: "classes", "labels" or "numbers"."""
        return LOSSES[self.certificate.loss].targets

    @property
    def floor(self) -> float:
        """The smallest change of the head that a fit can tell from none."""
        return max(self.certificate.refit_error_bound, 1e-12 * self.certificate.head_norm, 1e-15)

    @property
    def moves(self) -> bool:
        """Whether any of the searched sets moves the head by more than a fit can miss."""
        changes = [self.certificate.refit_change, *(point.refit_change for point in self.frontier)]
        return max(changes) > self.floor

    @cached_property
    def sizes(self) -> list[Size]:
        """The frontier; at the run's own size with the certificate's random sets, of which there are more."""
        return [
            self._certified(point) if point.removed == self.certificate.removed else point for point in self.frontier
        ]

    def _certified(self, point: Size) -> Size:
        c = self.certificate
        mean, spread = c.random_refit_change_mean, c.random_refit_change_sd
        return replace(
            point,
            random_refit_change=mean,
            random_refit_change_low=max(mean - spread, 0.0),
            random_refit_change_high=mean + spread,
            random_validation_loss_gap=c.random_validation_loss_gap,
            random_same_answers=c.random_same_answers,
        )

    @cached_property
    def groups(self) -> "Groups":
        """The classes, the labels, or the tenths of numeric targets, and which rows belong to each."""
        if self.targets == "numbers":
            return _tenths(self.labels)
        text = self.labels.astype(str)
        if self.targets == "labels":
            each = [sorted(set(labels.split("|")) - {""}) for labels in text.tolist()]
            rows = np.repeat(np.arange(len(each)), [len(labels) for labels in each])
            return _named([label for labels in each for label in labels], rows)
        return _named(text, np.arange(len(text)))


@dataclass(frozen=True)
class Groups:
    """Names of groups, and the pairs of row and group that belong together; a row may be in several groups or in none."""

    names: list[str]
    rows: Rows
    codes: Rows

    def sizes(self, wanted: Mask) -> Rows:
        """Return how many of the wanted rows are in each group."""
        return np.bincount(self.codes[wanted[self.rows]], minlength=len(self.names))

    def of(self, places: Rows) -> list[list[int]]:
        """Return the groups of some rows, whose places are ascending."""
        found: list[list[int]] = [[] for _ in places]
        at = places_among(places, self.rows)
        for place, code in zip(at[at >= 0].tolist(), self.codes[at >= 0].tolist(), strict=True):
            found[place].append(code)
        return found


def _named(labels: Sequence[str] | AnyArray, rows: Rows) -> Groups:
    names, codes = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    order = sorted(range(len(names)), key=lambda code: _natural(str(names[code])))
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return Groups([str(names[code]) for code in order], rows, rank[codes] if len(names) else rows)


def _natural(name: str) -> tuple[int, float, str]:
    """Sort numbers as numbers: 2 before 10."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def _tenths(labels: AnyArray) -> Groups:
    values = labels.astype(np.float64) if labels.dtype.kind in "fiu" else _first_numbers(labels)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)))
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(0, len(edges) - 2))
    names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges.tolist())]
    return Groups(names or [f"{edges[0]:.4g}"], np.arange(len(values)), codes)


def _first_numbers(labels: AnyArray) -> Vector:
    """Return the first number of each target, where a target is several numbers with spaces between."""
    return np.array([float(text.split()[0]) for text in labels.astype(str).tolist()])
