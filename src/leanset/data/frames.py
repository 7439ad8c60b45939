"""Data frames as features: numbers stay, booleans become 0 and 1, and each value of a category gets a column of its own.

Frames of pandas, polars and Arrow, and all others that speak Arrow's stream protocol, are read in one way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leanset._arrays import AnyArray
from leanset._errors import InputError
from leanset.data.limits import refuse_too_large

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_TEXTS = 100  # different values up to which a column of plain text is taken for a category


def is_frame(values: Any) -> bool:
    """Return whether a value is a table with named columns of their own types."""
    return hasattr(values, "__arrow_c_stream__") and hasattr(values, "columns")


def names_of(frame: Any) -> tuple[str, ...]:
    """Return the names of a frame's columns."""
    return tuple(map(str, frame.column_names if hasattr(frame, "column_names") else frame.columns))


@dataclass(frozen=True)
class FrameColumns:
    """The columns of a frame, and how each becomes one or more features.

    Attributes
    ----------
    names : of the frame's columns, in order
    categories : for each column the values that get a feature each; None for numbers and booleans
    """

    names: tuple[str, ...]
    categories: tuple[tuple[str, ...] | None, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features; that of a category is made of the column and the value.

        Examples
        --------
        >>> FrameColumns(("age", "city"), (None, ("Rome", "York"))).features
        ('age', 'city_Rome', 'city_York')
        """
        parts = zip(self.names, self.categories, strict=True)
        return tuple(
            name if values is None else f"{name}_{value}"
            for name, values in parts
            for value in (("",) if values is None else values)
        )

    def encoded(self, frame: Any, called: str) -> AnyArray:
        """Return the features of a frame with these columns, in any order; an unknown value of a category is 0 in all."""
        table = arrow_table(frame, called)
        missing = [name for name in self.names if name not in table.column_names]
        if missing or len(table.column_names) != len(self.names):
            raise InputError(
                f"`{called}` must have the columns {', '.join(self.names)}; it has {', '.join(table.column_names)}."
            )
        columns = [
            _numbers(table[name], called, name) if values is None else _one_hot(table[name], values)
            for name, values in zip(self.names, self.categories, strict=True)
        ]
        return np.column_stack(columns)


def encoded_frame(frame: Any, called: str, memory: int | None) -> tuple[AnyArray, FrameColumns]:
    """Return a frame as an array of numbers, and how its columns were used.

    Parameters
    ----------
    frame : with columns of numbers, booleans, categories or text
    called : its name in messages
    memory : most bytes for the array; None for what the machine has

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [3, 5], "old": [False, True], "city": ["York", "Rome"]})
    >>> matrix, columns = encoded_frame(table, "features", None)
    >>> matrix.tolist(), columns.features
    ([[3, 0, 0, 1], [5, 1, 1, 0]], ('age', 'old', 'city_Rome', 'city_York'))
    """
    table = arrow_table(frame, called)
    if not table.num_columns or not table.num_rows:
        raise InputError(f"`{called}` must be non-empty; got {table.num_rows:,} rows and {table.num_columns} columns.")
    columns = FrameColumns(
        tuple(table.column_names), tuple(_categories(table[name], called, name) for name in table.column_names)
    )
    widest = max(zip(columns.categories, columns.names, strict=True), key=lambda part: len(part[0] or ()))
    what = f"`{called}` with a column for each category (column `{widest[1]}` has {len(widest[0] or ()):,})"
    refuse_too_large(8 * table.num_rows * len(columns.features), what, memory)
    return columns.encoded(table, called), columns


def arrow_table(frame: Any, called: str) -> "pa.Table":
    """Return a frame as an Arrow table; `called` is its name in messages."""
    import pyarrow as pa  # here, because it is slow to import and only frames need it

    try:
        return pa.table(_plain_pandas(frame) if hasattr(frame, "reset_index") else frame)
    except (TypeError, ValueError) as error:
        raise InputError(f"`{called}`: {'; '.join(map(str, error.args))}.") from None


def _plain_pandas(frame: Any) -> Any:
    """Return a pandas frame without what Arrow stumbles over: an index, names that are not text, sparse columns."""
    sparse = [hasattr(kind, "fill_value") for kind in frame.dtypes]
    frame = frame.reset_index(drop=True).set_axis([str(name) for name in frame.columns], axis=1)
    return frame.astype({name: frame[name].dtype.subtype for name, at in zip(frame, sparse, strict=True) if at})


def _categories(column: "pa.ChunkedArray", called: str, name: str) -> tuple[str, ...] | None:
    """Return the values of a category or a column of text; None for numbers."""
    from pyarrow import types

    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"`{called}` column `{name}` has {column.null_count:,} missing values, first at row {row}.")
    kind = column.type
    if types.is_dictionary(kind):
        known = [(chunk.dictionary.to_pylist(), chunk.indices.unique().to_pylist()) for chunk in column.chunks]
        return tuple(dict.fromkeys(str(values[place]) for values, places in known for place in sorted(places)))
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        values = tuple(sorted(set(column.to_pylist())))
        if len(values) > _MOST_TEXTS:
            raise InputError(
                f"`{called}` column `{name}` has {len(values):,} different texts, more than {_MOST_TEXTS}; leave it out "
                f"(of a file: `drop={name!r}`), or make it a categorical column to have a feature for each."
            )
        return values
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
        raise InputError(
            f"`{called}` column `{name}` is {kind}; features are numbers, booleans, categories or text. Leave it out (of "
            f"a file: `drop={name!r}`), or turn it into numbers."
        )
    return None


def _numbers(column: "pa.ChunkedArray", called: str, name: str) -> AnyArray:
    import pyarrow as pa

    if _categories(column, called, name) is not None:
        raise InputError(f"`{called}` column `{name}` must be numbers; it is {column.type}.")
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    numbers: AnyArray = column.to_numpy()
    odd = ~np.isfinite(numbers)
    if odd.any():
        raise InputError(
            f"`{called}` column `{name}` must be finite; {int(odd.sum()):,} entries are NaN or infinite, first at row "
            f"{int(np.argmax(odd))}."
        )
    return numbers


def _one_hot(column: "pa.ChunkedArray", values: Sequence[str]) -> AnyArray:
    texts = np.array([str(value) for value in column.to_pylist()], dtype=object)
    return np.column_stack([texts == value for value in values])
