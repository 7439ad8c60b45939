"""Columns beside a table: arrays with one entry (or row) for each row, or what is computed from the rows when read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset.rows.table import RowTable


@dataclass(frozen=True)
class Derived:
    """A column that is computed from a chunk of the table, and from other columns, each time a pass reads it.

    So n × C predictions need no memory, and do not travel to the workers of a cluster. `work` must be small when pickled.
    """

    work: Callable[..., AnyArray]
    columns: "tuple[Column, ...]" = ()


Column: TypeAlias = AnyArray | RowTable | Derived
Stored: TypeAlias = AnyArray | RowTable


def in_chunk(column: Column, x: AnyArray, rows: slice | Rows) -> AnyArray:
    """Return the entries of a column for the rows `rows`, of which `x` is the chunk of the table."""
    if isinstance(column, np.ndarray):
        return column[rows]
    if isinstance(column, RowTable):
        return column._read_rows(rows)
    return column.work(x, *(in_chunk(each, x, rows) for each in column.columns))


def stored_in(columns: tuple[Column, ...]) -> list[Stored]:
    """Return the arrays and tables that columns are made of, each once, in the order of their first use."""
    found: dict[int, Stored] = {}
    for column in columns:
        for each in stored_in(column.columns) if isinstance(column, Derived) else [column]:
            found.setdefault(id(each), each)
    return list(found.values())


def with_places(columns: tuple[Column, ...], stored: list[Stored]) -> tuple[Any, ...]:
    """Return columns with places in the list of what is stored instead of it; `with_stored` undoes it."""
    place = {id(each): nth for nth, each in enumerate(stored)}
    return tuple(
        Derived(column.work, with_places(column.columns, stored)) if isinstance(column, Derived) else place[id(column)]
        for column in columns
    )


def with_stored(columns: tuple[Any, ...], stored: list[Stored]) -> tuple[Column, ...]:
    """Return columns with what is stored in place of places in a list of it."""
    return tuple(
        Derived(column.work, with_stored(column.columns, stored)) if isinstance(column, Derived) else stored[column]
        for column in columns
    )
