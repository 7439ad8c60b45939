from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Rows, Vector, is_sparse, places_among, plain_array
from leanset._errors import InputError
from leanset.data.frames import FrameColumns, encoded_frame, is_frame
from leanset.data.limits import refuse_beyond_memory, refuse_too_large
from leanset.data.origin import Origin
from leanset.data.reading import FEATURES_MEMORY
from leanset.data.targets import KINDS, Targets
from leanset.rows import (
    ChosenRows,
    ConvertedRows,
    DaskRows,
    FileRows,
    RowTable,
    all_rows,
    as_table,
    blocks_of,
    is_dask_array,
    is_whole_map,
    map_rows,
)

Features: TypeAlias = AnyArray | RowTable


@dataclass(frozen=True)
class Examples:
    """Checked features and targets, with optional validation data in the same form.

    Attributes
    ----------
    features : (n, d) array of float32 or float64, or a table of such rows that are not in memory
    targets : what the head should predict for each example
    validation : the held-out examples, or None
    weight : (n,) how much each example counts, 0 or more; None if all count alike
    rows : (n,) ascending row numbers in the source; None if no rows were left out (0..n-1)
    columns : names of the features, if they come from a frame
    names : what the examples are called, such as ids in a file; None if they have no names
    texts : what the examples say, for people to read; None if they are no texts
    origin : where they come from
    """

    features: Features
    targets: Targets
    validation: "Examples | None" = None
    weight: Vector | None = None
    rows: Rows | None = None
    columns: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = field(default=None, repr=False)
    texts: tuple[str, ...] | None = field(default=None, repr=False)
    origin: Origin = field(default=Origin(), repr=False)

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def labels(self) -> AnyArray:
        """The targets as numbers: (n,) class codes 0..C-1, or an (n, K) matrix."""
        return self.targets.values

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the head's outputs: the classes, the labels or the numbers."""
        return self.targets.names

    @property
    def source_rows(self) -> Rows:
        """Row number of each example in the source."""
        return np.arange(len(self)) if self.rows is None else self.rows

    def places_of(self, rows: Rows) -> Rows:
        """Return the positions of examples with these source row numbers, -1 for missing rows."""
        return places_among(self.source_rows, rows)

    def take(self, places: Rows) -> "Examples":
        """Return some of the examples, in ascending order; the held-out examples stay."""
        targets = replace(self.targets, values=self.targets.values[places])
        return replace(
            self,
            features=chosen_rows(self.features, places),
            targets=targets,
            weight=None if self.weight is None else self.weight[places],
            rows=self.source_rows[places],
            names=taken(self.names, places),
            texts=taken(self.texts, places),
        )

    @property
    def total(self) -> float:
        """How much all examples count together: their number, or the sum of their weights."""
        return float(len(self) if self.weight is None else self.weight.sum())

    def counting(self) -> "Examples":
        """Return the examples that count: rows of weight 0 are no part of the problem, in training or held out."""
        held_out = self.validation and self.validation.counting()
        if self.weight is None or self.weight.all():
            return self if held_out is self.validation else replace(self, validation=held_out)
        places = np.flatnonzero(self.weight)
        if gone := self.targets.lost(places):
            raise InputError(f"`sample_weight` is 0 where it is needed: without the rows of weight 0, {gone}.")
        return replace(self.take(places), validation=held_out)

    def renamed(self, names: tuple[str, ...]) -> "Examples":
        """Return the same examples with other output names."""
        held_out = self.validation and self.validation.renamed(names)
        return replace(self, targets=replace(self.targets, names=names), validation=held_out)


def chosen_rows(features: Features, places: Rows) -> Features:
    """Return some rows of features; a table stays one, of which nothing is read."""
    return ChosenRows(features, places) if isinstance(features, RowTable) else features[places]


def feature_blocks(features: Features) -> Iterator[AnyArray]:
    """Yield the rows of features block by block, in order; an array is one block."""
    return blocks_of(features) if isinstance(features, RowTable) else iter([features])


def taken(values: tuple[str, ...] | None, places: Rows) -> tuple[str, ...] | None:
    """Return the values at some places, if there are any values."""
    return values and tuple(values[place] for place in places.tolist())


@runtime_checkable
class HasExamples(Protocol):
    """Anything that can be converted to examples, such as the statistics of a network's head."""

    def examples(self) -> Examples:
        """Return the features and targets, checked."""


def checked_examples(
    features: Any,
    labels: ArrayLike,
    validation: tuple[Any, ...] | None = None,
    targets: str = "classes",
    memory: int | None = None,
    weight: ArrayLike | None = None,
    most: int = FEATURES_MEMORY,
) -> Examples:
    """Check a user's arrays or frames and return them as `Examples`.

    Parameters
    ----------
    features, labels : (n, d) numbers, and one target per example. Features may be a sparse matrix or a frame, of which
        categories become one feature for each value
    validation : held-out (features, labels), or (features, labels, weight)
    targets : kind of the labels: "classes", "labels" (a matrix of 0 and 1) or "numbers"
    memory : most bytes for features that have to be made dense; None for what the machine has
    weight : how much each example counts; all alike if None
    most : bytes of features in a file, or in another place, that are read as a whole; larger ones stay where they are

    Examples
    --------
    >>> checked_examples([[0.0], [1.0], [2.0]], ["cat", "dog", "cat"]).classes
    ('cat', 'dog')
    """
    matrix, columns = _checked_features(features, "features", memory, most)
    known = KINDS[targets].checked(labels, len(matrix), "features")
    held_out = None
    if validation is not None:
        if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
            raise InputError(
                "`validation=` must be a pair (val_features, val_labels), or that with a val_sample_weight."
            )
        val_features, val_labels, *rest = validation
        held_out = _checked_validation(val_features, val_labels, matrix.shape[1], columns, known, memory, most)
        held_out = replace(
            held_out, weight=_checked_weight(rest[0] if rest else None, len(held_out), "val_sample_weight")
        )
    return Examples(
        matrix,
        known,
        held_out,
        _checked_weight(weight, len(matrix), "sample_weight"),
        columns=None if columns is None else columns.features,
    )


def examples_from(
    features: ArrayLike | Examples | HasExamples,
    labels: ArrayLike | None = None,
    validation: tuple[ArrayLike, ...] | None = None,
    targets: str = "classes",
    memory: int | None = None,
    weight: ArrayLike | None = None,
    most: int = FEATURES_MEMORY,
) -> Examples:
    """Return examples from arrays or frames, `Examples`, or any object with an `examples()` method."""
    if isinstance(features, Examples | HasExamples):
        if labels is not None or validation is not None or weight is not None:
            raise InputError(
                f"`{type(features).__name__}` contains its own labels, weights and validation data; do not pass others."
            )
        return features if isinstance(features, Examples) else features.examples()
    if labels is None:
        raise InputError("`labels` are missing: pass them after the features.")
    return checked_examples(features, labels, validation, targets, memory, weight, most)


def _checked_features(features: Any, name: str, memory: int | None, most: int) -> tuple[Features, FrameColumns | None]:
    """Return features as finite floats, and the columns that they come from if they are a frame."""
    if isinstance(features, np.memmap) and is_whole_map(features):
        features = FileRows.of(features)
    if is_dask_array(features):
        features = _dask_rows(features, name)
    if isinstance(features, RowTable):
        return _checked_table(features, name, most), None
    if is_frame(features):
        matrix, columns = encoded_frame(features, name, memory)
        return _checked_matrix(matrix, name), columns
    return _checked_matrix(_dense(features, name, memory), name), None


def _dask_rows(features: Any, name: str) -> DaskRows:
    if features.ndim != 2 or not all(isinstance(length, int) for length in features.shape):
        raise InputError(
            f"`{name}` must be an (n, d) dask.array of known shape; got {features.shape}; `compute_chunk_sizes()` finds it."
        )
    return DaskRows(features)


def _dense(features: Any, name: str, memory: int | None) -> AnyArray:
    if is_sparse(features):
        return _dense_from_sparse(features, name, memory)
    try:
        return plain_array(features, name)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"`{name}` must be one rectangular (n, d) array of numbers; {error}") from None


def _dense_from_sparse(matrix: Any, name: str, memory: int | None) -> AnyArray:
    rows, width = matrix.shape
    size = rows * width * max(matrix.dtype.itemsize, 4)
    refuse_too_large(size, f"`{name}`, a sparse matrix of {rows:,} × {width:,},", memory)
    return np.asarray(matrix.toarray())


def _checked_matrix(matrix: AnyArray, name: str) -> AnyArray:
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"`{name}` must be a non-empty (n, d) array; got shape {matrix.shape}.")
    kind = _float_for(matrix.dtype, name)
    needed = len(matrix) + (0 if matrix.dtype == kind else matrix.size * kind.itemsize)  # a copy, and a byte a row
    refuse_beyond_memory(needed, f"`{name}`", "checking it takes")
    matrix = matrix.astype(kind, copy=False)
    _refuse_infinite(as_table(matrix), name)
    return matrix


def _checked_table(table: RowTable, name: str, most: int) -> Features:
    """Return a table of finite floats; as an array if it has at most so many bytes."""
    if 0 in table.shape:
        raise InputError(f"`{name}` must be a non-empty (n, d) table; got shape {table.shape}.")
    kind = _float_for(table.dtype, name)
    if table.dtype != kind:
        table = ConvertedRows(table, kind)
    if table.nbytes <= most:
        return _checked_matrix(all_rows(table), name)
    _refuse_infinite(table, name)
    return table


def _float_for(dtype: "np.dtype[Any]", name: str) -> "np.dtype[Any]":
    if dtype.kind not in "fiub":
        raise InputError(f"`{name}` must contain real numbers; got dtype {dtype}.")
    return np.dtype(np.float32 if dtype == np.float32 or dtype.itemsize <= 2 else np.float64)


def _refuse_infinite(table: RowTable, name: str) -> None:
    wrong = map_rows(lambda x: (~np.isfinite(x)).sum(axis=1), table, width=table.shape[1])
    if wrong.any():
        raise InputError(
            f"`{name}` must be finite; {int(wrong.sum()):,} entries are NaN or infinite in {np.count_nonzero(wrong):,} rows, "
            f"first at row {int(np.argmax(wrong > 0))}."
        )


def _checked_weight(weight: ArrayLike | None, count: int, name: str) -> Vector | None:
    if weight is None:
        return None
    values = plain_array(weight, "sample_weight")
    if values.shape == (count, 1):
        values = values[:, 0]
    if values.shape != (count,) or values.dtype.kind not in "fiub":
        raise InputError(
            f"`{name}` must contain one number for each of the {count:,} examples; got {values.dtype} {values.shape}."
        )
    numbers: Vector = values.astype(np.float64)
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"`{name}` must contain finite numbers, 0 or more; row {row} has {values[row]}.")
    if not numbers.any():
        raise InputError(f"`{name}` must not be zero for all examples.")
    return numbers


def _checked_validation(
    features: Any,
    labels: ArrayLike,
    width: int,
    columns: FrameColumns | None,
    known: Targets,
    memory: int | None,
    most: int,
) -> Examples:
    if columns is not None and is_frame(features):
        matrix: Features = _checked_matrix(columns.encoded(features, "val_features"), "val_features")
    else:
        matrix, _ = _checked_features(features, "val_features", memory, most)
    if matrix.shape[1] != width:
        raise InputError(f"`val_features` must have the {width} columns of `features`; got {matrix.shape[1]}.")
    return Examples(matrix, known.checked_more(labels, len(matrix), "val_labels", "val_features"))
