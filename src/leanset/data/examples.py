from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Rows, places_among
from leanset._errors import InputError
from leanset.data.labels import coded_labels, codes_among


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
        """Return where examples with these source row numbers are, -1 for rows that are not here."""
        return places_among(self.source_rows, rows)


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
    codes, classes = coded_labels(labels, len(matrix))
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


def _checked_validation(features: ArrayLike, labels: ArrayLike, width: int, classes: tuple[str, ...]) -> Examples:
    matrix = _checked_features(features, "val_features")
    if matrix.shape[1] != width:
        raise InputError(f"`val_features` must have the {width} columns of `features`; got {matrix.shape[1]}.")
    codes = codes_among(classes, labels, len(matrix), "val_labels", "val_features")
    return Examples(matrix, codes, classes)
