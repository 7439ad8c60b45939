"""Progress of long passes, for whoever watches."""

import contextlib
import contextvars
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Watch = Callable[[int, int], None]  # called with the rows that are done and with all rows of the pass
Item = TypeVar("Item")

_LONG_PASS = 1.0  # seconds after which a pass is worth a line
_watch: contextvars.ContextVar[Watch | None] = contextvars.ContextVar("leanset_watch", default=None)


@contextlib.contextmanager
def watched_by(watch: Watch | None) -> Iterator[None]:
    """Report the progress of long passes inside a block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def watched_rows(items: Iterable[Item], chunks: list[slice]) -> Iterator[Item]:
    """Yield items, one for each chunk, and tell the watch how far the pass is, if it takes long."""
    watch = _watch.get()
    if watch is None:
        yield from items
        return
    began, told, rows = time.monotonic(), False, chunks[-1].stop if chunks else 0
    for chunk, item in zip(chunks, items, strict=True):
        yield item
        if told or time.monotonic() - began > _LONG_PASS:
            if not told:
                watch(0, rows)
            told = True
            watch(chunk.stop, rows)
