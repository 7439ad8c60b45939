"""Who computes the passes: the threads of this process, or the workers of a cluster."""

import contextlib
import contextvars
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from leanset._arrays import AnyArray, Vector
from leanset.rows.columns import Column
from leanset.rows.table import RowTable


class Engine(Protocol):
    """Computes blocks of a pass elsewhere."""

    def summed(
        self,
        block: Callable[..., Any],
        work: Callable[..., Any],
        table: RowTable,
        columns: tuple[Column, ...],
        weights: Vector | None,
        width: int,
    ) -> Any:
        """Return the sum of `block(work, ...)` over all blocks of rows, in the order of `OrderedSum`."""

    def mapped(
        self,
        block: Callable[..., AnyArray],
        work: Callable[..., AnyArray],
        table: RowTable,
        columns: tuple[Column, ...],
        weights: Vector | None,
        width: int,
    ) -> Iterable[AnyArray]:
        """Yield `block(work, ...)` for all blocks of rows, in order."""

    def kept(
        self,
        block: Callable[..., AnyArray],
        work: Callable[..., AnyArray],
        table: RowTable,
        columns: tuple[Column, ...],
        weights: Vector | None,
        width: int,
    ) -> RowTable:
        """Return what `mapped` yields as one table that stays where it was computed."""


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
