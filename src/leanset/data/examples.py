from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Rows
from leanset._errors import InputError


@dataclass(frozen=True)
class Examples:
    """Features and labels that have passed every check, with optional validation data in the same form.

    Attributes
    ----------
    features : (n, d) array of float32 or float64
    labels : (n,) int64 codes 0..C-1
    classes : the C class names as the user wrote them, in code order
    validation : the held-out examples, or None
    rows : (n,) ascending row numbers in the source, where rows were left out; None if they are 0..n-1
    """

    features: AnyArray
    labels: Rows
    classes: tuple[str, ...]
    validation: "Examples | None" = None
    rows: Rows | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def class_counts(self) -> Rows:
        """Number of examples of each class."""
        return np.bincount(self.labels, minlength=len(self.classes))

    @property
    def source_rows(self) -> Rows:
        """Row number of each example in the source."""
        return np.arange(len(self)) if self.rows is None else self.rows

    def places_of(self, rows: Rows) -> Rows:
        """Return where examples with these source row numbers are, -1 for rows that are not here.

        Examples
        --------
        >>> Examples(np.ones((2, 1)), np.array([0, 1]), ("a", "b"), rows=np.array([3, 5])).places_of(np.array([5, 4]))
        array([ 1, -1])
        """
        known = self.source_rows
        place = np.minimum(np.searchsorted(known, rows), len(known) - 1)
        return np.where(known[place] == rows, place, -1)


def checked_examples(
    features: ArrayLike, labels: ArrayLike, validation: tuple[ArrayLike, ArrayLike] | None = None
) -> Examples:
    """Check arrays as a user hands them in and return them as `Examples`.

    Examples
    --------
    >>> checked_examples([[0.0], [1.0], [2.0]], ["cat", "dog", "cat"]).classes
    ('cat', 'dog')
    """
    matrix = _checked_features(features, "features")
    codes, classes = _coded_labels(labels, len(matrix))
    held_out = None
    if validation is not None:
        if not isinstance(validation, tuple | list) or len(validation) != 2:
            raise InputError("`validation=` must be a pair (val_features, val_labels).")
        held_out = _checked_validation(validation[0], validation[1], matrix.shape[1], classes)
    return Examples(matrix, codes, classes, held_out)


def _checked_features(features: ArrayLike, name: str) -> AnyArray:
    try:
        matrix = np.asarray(features)
    except ValueError as error:
        raise InputError(f"`{name}` must be one rectangular (n, d) array of numbers; {error}") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"`{name}` must be a non-empty (n, d) array; got shape {matrix.shape}.")
    if matrix.dtype.kind not in "fiub":
        raise InputError(f"`{name}` must hold real numbers; got dtype {matrix.dtype}.")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float32 if matrix.dtype.itemsize <= 2 else np.float64)
    finite_rows = np.isfinite(matrix).all(axis=1)
    if not finite_rows.all():
        bad = int(matrix.size - np.isfinite(matrix).sum())
        raise InputError(
            f"`{name}` must be finite; {bad:,} entries are NaN or infinite in {int((~finite_rows).sum()):,} rows, "
            f"first at row {int(np.argmin(finite_rows))}."
        )
    return matrix


def _coded_labels(labels: ArrayLike, examples: int) -> tuple[Rows, tuple[str, ...]]:
    values = _checked_label_array(labels, examples, "labels", "features")
    if values.dtype.kind in "US":
        names, codes = np.unique(values, return_inverse=True)
        classes = tuple(map(str, names))
    else:
        codes = values.astype(np.int64)
        classes = tuple(map(str, range(_class_count(codes))))
    if len(classes) < 2:
        raise InputError(f"`labels` must name at least two classes; every example is of class {classes[0]!r}.")
    return codes.astype(np.int64), classes


def _class_count(codes: Rows) -> int:
    lowest, highest = int(codes.min()), int(codes.max())
    if lowest < 0:
        raise InputError(
            f"`labels` must be numbered 0..C-1; got {lowest} at row {int(np.argmin(codes))}. Drop unlabelled rows first."
        )
    if highest >= len(codes):
        raise InputError(
            f"`labels` go up to {highest}, which means {highest + 1} classes, but there are only {len(codes)} examples; "
            "there must be at least one example of each class 0..C-1."
        )
    gaps = np.flatnonzero(np.bincount(codes) == 0)
    if len(gaps):
        raise InputError(
            f"`labels` must be numbered 0..C-1 without gaps; the highest is {highest} but {len(gaps)} numbers never occur "
            f"(first: {int(gaps[0])}). Pass strings to have classes mapped for you."
        )
    return highest + 1


def _checked_label_array(labels: ArrayLike, examples: int, name: str, features_name: str) -> AnyArray:
    try:
        values = np.asarray(labels)
    except ValueError:
        raise InputError(f"`{name}` must be one flat list of labels.") from None
    if values.ndim != 1 or len(values) != examples:
        raise InputError(
            f"`{name}` must hold one label for each of the {examples:,} rows of `{features_name}`; got shape {values.shape}."
        )
    if values.dtype.kind == "O" and all(isinstance(value, int | np.integer) for value in values):
        values = values.astype(np.int64)  # as data frames hand integers out
    if values.dtype.kind == "O":
        return _strings_from_objects(values, name)
    if values.dtype.kind == "f":
        broken = ~np.isfinite(values)
        if broken.any():
            raise InputError(
                f"`{name}` has {int(broken.sum()):,} missing (non-finite) labels, first at row {int(np.argmax(broken))}."
            )
        broken = values != np.floor(values)
        if broken.any():
            row = int(np.argmax(broken))
            raise InputError(f"`{name}` must be integers 0..C-1 or strings; got {values[row]} at row {row}.")
    elif values.dtype.kind not in "iubUS":
        raise InputError(f"`{name}` must be integers 0..C-1 or strings; got dtype {values.dtype}.")
    if values.dtype.kind == "S":
        try:
            return np.char.decode(values, "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"`{name}` are bytes that are not UTF-8 text: {error}.") from None
    return values


def _strings_from_objects(values: AnyArray, name: str) -> AnyArray:
    for row, value in enumerate(values):
        if not isinstance(value, str):
            what = "missing" if _is_missing(value) else f"{value!r}"
            raise InputError(f"`{name}` must be all integers or all strings; row {row} is {what}.")
    return values.astype(str)


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN is the only value that differs from itself


def _checked_validation(features: ArrayLike, labels: ArrayLike, width: int, classes: tuple[str, ...]) -> Examples:
    matrix = _checked_features(features, "val_features")
    if matrix.shape[1] != width:
        raise InputError(f"`val_features` must have the {width} columns of `features`; got {matrix.shape[1]}.")
    values = _checked_label_array(labels, len(matrix), "val_labels", "val_features")
    texts = values if values.dtype.kind == "U" else values.astype(np.int64).astype(str)
    order = np.argsort(classes)
    place = np.minimum(np.searchsorted(np.array(classes)[order], texts), len(classes) - 1)
    codes = order[place]
    unknown = np.array(classes)[codes] != texts
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InputError(
            f"`val_labels` row {row} is {str(texts[row])!r}, which does not occur among the {len(classes)} classes of `labels`."
        )
    return Examples(matrix, codes.astype(np.int64), classes)
