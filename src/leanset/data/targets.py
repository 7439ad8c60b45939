"""What a head predicts for each example: one class, a set of labels, or numbers.

Every kind also assigns the examples to groups, over which removals are balanced: the class; the rarest label of the
example; the tenth of the examples by number. So "proportional" means what users expect for each kind of target.
"""

import abc
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Matrix, Rows, Vector, is_sparse, plain_array
from leanset._errors import InputError
from leanset.data.frames import is_frame, names_of
from leanset.data.labels import coded_labels, codes_among

_BINS = 10  # most groups of numeric targets; fewer if a group would have less than _LEAST_IN_BIN examples
_LEAST_IN_BIN = 10
_LARGEST = 1e75  # of numbers that are squared twice, and summed, below 1e308; no measurement is this large


@dataclass(frozen=True)
class Targets(abc.ABC):
    """The targets of n examples and the names of the outputs that predict them."""

    values: AnyArray
    names: tuple[str, ...]
    kind: ClassVar[str]

    def __len__(self) -> int:
        return len(self.values)

    @property
    @abc.abstractmethod
    def groups(self) -> Rows:
        """The group of each example, as codes from 0; removals are balanced over groups."""

    @property
    @abc.abstractmethod
    def group_names(self) -> tuple[str, ...]:
        """The names of the groups in code order."""

    @property
    @abc.abstractmethod
    def shown(self) -> AnyArray:
        """The targets in readable form, for tables."""

    @classmethod
    @abc.abstractmethod
    def checked(cls, values: ArrayLike, count: int, of: str) -> Self:
        """Check a user's targets; `of` is the name of the corresponding array in error messages."""

    @abc.abstractmethod
    def checked_more(self, values: ArrayLike, count: int, name: str, of: str) -> Self:
        """Check held-out targets, which must have the same classes, labels or numbers as these."""

    @property
    def protected(self) -> Rows:
        """Rows that must stay so that every output keeps something to learn, beyond one example of each group."""
        return np.zeros(0, dtype=np.int64)

    def lost(self, kept: Rows) -> str | None:
        """Say which output the kept rows leave nothing to learn from, if there is one."""
        return None

    @property
    def group_sizes(self) -> Rows:
        """Number of examples in each group."""
        return np.bincount(self.groups, minlength=len(self.group_names))


@dataclass(frozen=True)
class Classes(Targets):
    """One class for each example.

    Examples
    --------
    >>> Classes.checked(["cat", "dog", "cat"], 3, "features")
    Classes(values=array([0, 1, 0]), names=('cat', 'dog'))
    """

    kind: ClassVar[str] = "classes"

    @property
    def groups(self) -> Rows:
        """The class codes."""
        return self.values

    @property
    def group_names(self) -> tuple[str, ...]:
        """The class names."""
        return self.names

    def lost(self, kept: Rows) -> str | None:
        """Name a class of which no example is kept."""
        left = np.bincount(self.values[kept], minlength=len(self.names))
        gone = np.flatnonzero((left == 0) & (self.group_sizes > 0))
        return f"no example of class {self.names[gone[0]]} is left" if len(gone) else None

    @property
    def shown(self) -> AnyArray:
        """The class names of the examples."""
        return np.array(self.names)[self.values]

    @classmethod
    def checked(cls, values: ArrayLike, count: int, of: str) -> Self:
        """Check whole numbers, booleans or strings."""
        return cls(*coded_labels(values, count, of))

    def checked_more(self, values: ArrayLike, count: int, name: str, of: str) -> Self:
        """Check held-out labels of the same classes."""
        return type(self)(codes_among(self.names, values, count, name, of), self.names)


@dataclass(frozen=True)
class LabelSets(Targets):
    """Any number of labels for each example, as a matrix of 0 and 1; a single column is a yes-or-no question.

    Examples
    --------
    >>> tags = LabelSets.checked([[1, 0], [1, 1], [0, 0]], 3, "features")
    >>> tags.shown.tolist(), tags.groups.tolist()  # label 1 is the rarest; the last example has none
    (['0', '0|1', ''], [0, 1, 2])
    """

    kind: ClassVar[str] = "labels"

    @cached_property
    def groups(self) -> Rows:
        """The rarest label of each example; one more group for examples without labels."""
        counts = self.values.sum(axis=0)
        rarity = np.where(self.values > 0, -counts, -np.inf)
        return np.asarray(np.where(self.values.any(axis=1), rarity.argmax(axis=1), len(self.names)))

    @property
    def protected(self) -> Rows:
        """One example with and one without each label that its groups do not already keep."""
        sizes, rows = self.group_sizes, []
        for column, members in enumerate(self.values.T):
            if not sizes[column]:  # never the rarest label of an example
                rows.append(int(np.argmax(members > 0)))
            if not sizes[-1]:  # every example has some label
                rows.append(int(np.argmax(members == 0)))
        return np.unique(np.array(rows, dtype=np.int64))

    def lost(self, kept: Rows) -> str | None:
        """Name a label that all kept examples have, or none."""
        constant = np.flatnonzero((self.values[kept] == self.values[kept][:1]).all(axis=0))
        return f"label {self.names[constant[0]]} is the same in all kept examples" if len(constant) else None

    @property
    def group_names(self) -> tuple[str, ...]:
        """The labels, and "none"."""
        return (*self.names, "none")

    @property
    def shown(self) -> AnyArray:
        """The labels of each example, joined by |."""
        names = np.array(self.names, dtype=object)
        return np.array(["|".join(names[row > 0]) for row in self.values])

    @classmethod
    def checked(cls, values: ArrayLike, count: int, of: str) -> Self:
        """Check a matrix (or one column) of 0 and 1."""
        matrix = cls._zeros_and_ones(values, count, "labels", of)
        constant = np.flatnonzero((matrix == matrix[0]).all(axis=0))
        if len(constant):
            raise InputError(
                f"`labels` column {int(constant[0])} is {int(matrix[0, constant[0]])} in every row; a label needs examples "
                "with and without it. Drop the column."
            )
        return cls(matrix, _names(values, matrix))

    def checked_more(self, values: ArrayLike, count: int, name: str, of: str) -> Self:
        """Check a held-out matrix, which must have the same number of columns."""
        matrix = self._zeros_and_ones(values, count, name, of)
        _check_width(matrix, len(self.names), name)
        return type(self)(matrix, self.names)

    @staticmethod
    def _zeros_and_ones(values: ArrayLike, count: int, name: str, of: str) -> Matrix:
        matrix = _checked_matrix(values, count, name, of)
        wrong = ~np.isin(matrix, (0.0, 1.0))
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))
            raise InputError(
                f"`{name}` must be 0 or 1 for `loss='sigmoid'`; row {row} has {matrix[row][wrong[row]][0]:g}."
            )
        return matrix


@dataclass(frozen=True)
class Numbers(Targets):
    """One number for each example, or several: regression.

    Examples
    --------
    >>> Numbers.checked([0.5, 2.0, 1.0], 3, "features").values.shape
    (3, 1)
    """

    kind: ClassVar[str] = "numbers"

    @cached_property
    def groups(self) -> Rows:
        """Tenths of the examples by number; with several numbers, by their first principal component.

        Equal numbers are in one group, whatever the order of the rows.
        """
        edges = np.quantile(self._size, np.linspace(0, 1, self._bins + 1)[1:-1])
        return np.unique(np.searchsorted(edges, self._size, side="right"), return_inverse=True)[1].reshape(-1)

    @property
    def _bins(self) -> int:
        return int(min(_BINS, max(1, len(self) // _LEAST_IN_BIN)))

    @property
    def _size(self) -> Vector:
        spread = self.values.std(axis=0)
        scaled = (self.values - self.values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        leading = np.linalg.eigh(scaled.T @ scaled)[1][:, -1]
        return np.asarray(scaled @ (leading * np.sign(leading[np.argmax(np.abs(leading))])))

    @property
    def group_names(self) -> tuple[str, ...]:
        """The part of the examples by number, from low to high."""
        count = int(self.groups.max(initial=0)) + 1
        return tuple(f"part {k + 1} of {count}" for k in range(count))

    @property
    def shown(self) -> AnyArray:
        """The numbers; several numbers of one example are joined by spaces."""
        if self.values.shape[1] == 1:
            return np.asarray(self.values[:, 0])
        return np.array([" ".join(f"{value:.6g}" for value in row) for row in self.values])

    @classmethod
    def checked(cls, values: ArrayLike, count: int, of: str) -> Self:
        """Check finite numbers, one or several per example."""
        matrix = _checked_matrix(values, count, "labels", of)
        if (matrix == matrix[0]).all():
            raise InputError("`labels` must differ for `loss='squared'`; every example has the same number.")
        return cls(matrix, _names(values, matrix))

    def checked_more(self, values: ArrayLike, count: int, name: str, of: str) -> Self:
        """Check held-out numbers, which must have the same number of columns."""
        matrix = _checked_matrix(values, count, name, of)
        _check_width(matrix, len(self.names), name)
        return type(self)(matrix, self.names)


KINDS: dict[str, type[Targets]] = {kind.kind: kind for kind in (Classes, LabelSets, Numbers)}


def _checked_matrix(values: ArrayLike, count: int, name: str, of: str) -> Matrix:
    try:
        matrix = (values.toarray() if is_sparse(values) else plain_array(values, name)).astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"`{name}` must be numbers, one row per example.") from None
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2 or len(matrix) != count or not matrix.size:
        raise InputError(
            f"`{name}` must have one row for each of the {count:,} rows of `{of}`; got shape {matrix.shape}."
        )
    broken = ~np.isfinite(matrix).all(axis=1)
    if broken.any():
        raise InputError(
            f"`{name}` must be finite; {int(broken.sum()):,} rows are not, first row {int(np.argmax(broken))}."
        )
    if (largest := float(np.abs(matrix).max())) > _LARGEST:
        raise InputError(f"`{name}` reach {largest:.3g}, and squares of that overflow; choose a larger unit.")
    return matrix


def _names(values: ArrayLike, matrix: Matrix) -> tuple[str, ...]:
    """Return the names of a frame's columns, or numbers."""
    return names_of(values) if is_frame(values) else tuple(map(str, range(matrix.shape[1])))


def _check_width(matrix: Matrix, width: int, name: str) -> None:
    if matrix.shape[1] != width:
        raise InputError(f"`{name}` must have the {width} columns of `labels`; got {matrix.shape[1]}.")
