from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Rows, plain_array
from leanset._errors import InputError


def coded_labels(labels: ArrayLike, count: int, of: str = "features") -> tuple[Rows, tuple[str, ...]]:
    """Return labels as codes 0..C-1, and the class names: the values that occur, numbers by size and text sorted.

    Examples
    --------
    >>> coded_labels(["dog", "cat", "dog"], 3)
    (array([1, 0, 1]), ('cat', 'dog'))
    >>> coded_labels([[-1], [1], [10]], 3)
    (array([0, 1, 2]), ('-1', '1', '10'))
    """
    values = _checked_label_array(labels, count, "labels", of)
    if not count:
        raise InputError(f"`{of}` must be non-empty.")
    names, codes = np.unique(values, return_inverse=True)
    classes = tuple(map(str, names))
    _refuse_single_class(classes)
    return codes.astype(np.int64), classes


def codes_among(classes: tuple[str, ...], labels: ArrayLike, count: int, name: str, of: str) -> Rows:
    """Return the codes of held-out labels, each of which must be one of the training classes."""
    values = _checked_label_array(labels, count, name, of)
    texts = values.astype(str)
    order = np.argsort(classes)
    place = np.minimum(np.searchsorted(np.array(classes)[order], texts), len(classes) - 1)
    codes = order[place]
    unknown = np.array(classes)[codes] != texts
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InputError(
            f"`{name}` row {row} is {str(texts[row])!r}, which is not one of the {len(classes)} classes of `labels`."
        )
    return codes.astype(np.int64)


def numbered_labels(classes: tuple[str, ...], labels: ArrayLike, count: int, name: str, of: str) -> Rows:
    """Return labels that index a list of class names from the data."""
    values = _checked_label_array(labels, count, name, of)
    if values.dtype.kind == "U":
        raise InputError(f"`{name}` must be indices into the {len(classes)} class names; got text.")
    outside = (values < 0) | (values >= len(classes))  # before they are cast, which would turn 2**64 - 1 into -1
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            f"`{name}` row {row} is {values[row]}; with {len(classes)} class names it must be in 0..{len(classes) - 1}."
        )
    return values.astype(np.int64)


def refuse_empty_classes(classes: tuple[str, ...], codes: Rows) -> None:
    """Raise if a class has no training label, or if there is only one class."""
    empty = np.flatnonzero(np.bincount(codes, minlength=len(classes)) == 0)
    if len(empty):
        raise InputError(
            f"{len(empty)} of the {len(classes)} classes have no training example (first: {classes[empty[0]]!r}); "
            "every class needs at least one."
        )
    _refuse_single_class(classes)


def _refuse_single_class(classes: tuple[str, ...]) -> None:
    if len(classes) < 2:
        raise InputError(f"`labels` must have at least two classes; every example is of class {classes[0]!r}.")


def _checked_label_array(labels: ArrayLike, examples: int, name: str, features_name: str) -> AnyArray:
    """Return one label per example: whole numbers, booleans or text."""
    try:
        values = plain_array(labels, name)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"`{name}` must be one flat list of labels.") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]  # a column, or a frame of one column
    if values.ndim != 1 or len(values) != examples:
        raise InputError(
            f"`{name}` must contain one label for each of the {examples:,} rows of `{features_name}`; got shape {values.shape}."
            + (
                " A matrix of 0 and 1 needs `loss='sigmoid'`, a matrix of numbers `loss='squared'`."
                if values.ndim == 2
                else ""
            )
        )
    if values.dtype.kind == "U" and isinstance(labels, list | tuple):
        _refuse_zero_characters(np.array(labels, dtype=object).ravel(), name)
    if values.dtype.kind == "O":
        values = _from_objects(values, name)
    if values.dtype.kind == "f":
        return _whole_numbers(values, name)
    if values.dtype.kind == "S":
        try:
            return np.char.decode(values, "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"`{name}` are bytes that are not UTF-8 text: {error}.") from None
    if values.dtype.kind not in "iubU":
        raise InputError(f"`{name}` must be whole numbers, booleans or strings; got dtype {values.dtype}.")
    return values


def _whole_numbers(values: AnyArray, name: str) -> AnyArray:
    broken = ~np.isfinite(values)
    if broken.any():
        raise InputError(
            f"`{name}` has {int(broken.sum()):,} missing (non-finite) labels, first at row {int(np.argmax(broken))}."
        )
    broken = values != np.floor(values)
    if broken.any():
        row = int(np.argmax(broken))
        raise InputError(
            f"`{name}` must be whole numbers, booleans or strings; got {values[row]} at row {row}. For continuous "
            "targets give `loss='squared'`."
        )
    broken = np.abs(values) >= 2.0**63
    if broken.any():
        row = int(np.argmax(broken))
        raise InputError(f"`{name}` row {row} is {values[row]:g}; classes are numbers below 2**63, or names.")
    return values.astype(np.int64)


def _refuse_zero_characters(values: AnyArray, name: str) -> None:
    """Raise if a name ends in a zero character, which NumPy cuts off: with and without it would be one class."""
    for row, value in enumerate(values):
        if isinstance(value, str) and value.endswith("\0"):
            raise InputError(f"`{name}` row {row} ends with a zero character: {value!r}; remove it.")


def _from_objects(values: AnyArray, name: str) -> AnyArray:
    """Return the objects of a data frame's column as an array of numbers, booleans or strings."""
    if all(isinstance(value, int | float | np.number | np.bool_) for value in values):
        numbers = np.array(values.tolist())
        if numbers.dtype.kind == "O":
            raise InputError(f"`{name}` must be numbers below 2**64; the largest is {max(values.tolist()):.4g}.")
        return numbers
    _refuse_zero_characters(values, name)
    for row, value in enumerate(values):
        if not isinstance(value, str):
            what = "missing" if _is_missing(value) else f"{value!r}"
            raise InputError(f"`{name}` must be all numbers or all strings; row {row} is {what}.")
    return values.astype(str)


def _is_missing(value: Any) -> bool:
    return str(value) in ("None", "nan", "<NA>", "NaT")
