"""Columns beside a table: arrays with one entry (or row) for each row, or what is computed from the rows when read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from leanset._arrays import AnyArray, Rows


@dataclass(frozen=True)
class Derived:
    """A column that is computed from a chunk of the table, and from other columns, each time a pass reads it.

    So n × C predictions need no memory, and do not travel to the workers of a cluster. `work` must be small when pickled.
    """

    work: Callable[..., AnyArray]
    columns: "tuple[Column, ...]" = ()


Column: TypeAlias = AnyArray | Derived


def in_chunk(column: Column, x: AnyArray, rows: slice | Rows) -> AnyArray:
    """Return the entries of a column for the rows `rows`, of which `x` is the chunk of the table."""
    if isinstance(column, np.ndarray):
        return column[rows]
    return column.work(x, *(in_chunk(each, x, rows) for each in column.columns))


def arrays_of(columns: tuple[Column, ...]) -> list[AnyArray]:
    """Return the arrays that columns are made of, each once, in the order of their first use."""
    found: dict[int, AnyArray] = {}
    for column in columns:
        for array in [column] if isinstance(column, np.ndarray) else arrays_of(column.columns):
            found.setdefault(id(array), array)
    return list(found.values())


def with_places(columns: tuple[Column, ...], arrays: list[AnyArray]) -> tuple[Any, ...]:
    """Return columns with the places of their arrays in a list instead of the arrays; `with_arrays` undoes it."""
    place = {id(array): nth for nth, array in enumerate(arrays)}
    return tuple(
        place[id(column)]
        if isinstance(column, np.ndarray)
        else Derived(column.work, with_places(column.columns, arrays))
        for column in columns
    )


def with_arrays(columns: tuple[Any, ...], arrays: list[AnyArray]) -> tuple[Column, ...]:
    """Return columns with arrays in place of places in a list."""
    return tuple(
        Derived(column.work, with_arrays(column.columns, arrays)) if isinstance(column, Derived) else arrays[column]
        for column in columns
    )
