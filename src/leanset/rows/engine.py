"""Who computes the passes: the threads of this process, or the workers of a cluster."""

import contextlib
import contextvars
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from leanset._arrays import AnyArray, Vector
from leanset.rows.columns import Column
from leanset.rows.table import RowTable


@dataclass(frozen=True)
class Pass:
    """One pass over the rows of a table.

    Attributes
    ----------
    work : what is computed from a chunk of rows and the same rows of the columns
    table, columns, weights : what is read
    width : numbers that `work` stores per row
    """

    work: Callable[..., Any]
    table: RowTable
    columns: tuple[Column, ...]
    weights: Vector | None
    width: int


Block = Callable[[Pass], Any]  # computes a pass over the rows of one block


class Engine(Protocol):
    """Computes the blocks of a pass elsewhere."""

    def summed(self, block: Block, whole: Pass) -> Any:
        """Return the sum of a pass over all blocks of rows, in the order of `OrderedSum`."""

    def mapped(self, block: Block, whole: Pass) -> Iterable[AnyArray]:
        """Yield what a pass finds in each block of rows, in order."""

    def kept(self, block: Block, whole: Pass) -> RowTable:
        """Return what `mapped` yields as one table that stays where it was computed."""

    def each(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item, in order; what `work` contains is sent once."""


_engine: contextvars.ContextVar[Engine | None] = contextvars.ContextVar("leanset_engine", default=None)


def engine() -> Engine | None:
    """Return what computes the passes; None for the threads of this process."""
    return _engine.get()


def on_cluster() -> bool:
    """Return whether passes are computed elsewhere, so that rows had better stay there, too."""
    return engine() is not None


@contextlib.contextmanager
def computed_by(chosen: Engine | None) -> Iterator[None]:
    """Let passes inside a block be computed elsewhere."""
    token = _engine.set(chosen)
    try:
        yield
    finally:
        _engine.reset(token)
