"""Parallel work whose result does not depend on the number of threads.

BLAS uses one thread per call (see `working_threads`). A pool of threads processes chunks of rows whose boundaries
depend only on the problem, and sums are taken in chunk order. So results are identical to the last bit on one core and
on sixty-four. Annealing needs this: one flipped bit sends it down another path.
"""

import contextlib
import contextvars
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import threadpoolctl

from leanset._errors import InputError

Result = TypeVar("Result")

_CHUNK_ENTRIES = 2**21  # 16 MiB of float64 per temporary: large enough for BLAS, small enough for the cache hierarchy
_threads: contextvars.ContextVar[int | None] = contextvars.ContextVar("leanset_threads", default=None)


def available_threads() -> int:
    """Return the number of worker threads: as set by `thread_count`, else the number of cores this process may use."""
    chosen = _threads.get()
    if chosen is not None:
        return chosen
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only; elsewhere every core counts
    return len(allowed(0)) if allowed else os.cpu_count() or 1


@contextlib.contextmanager
def thread_count(threads: int | None) -> Iterator[None]:
    """Set how many threads leanset may use inside a block; all cores if None."""
    if threads is not None and threads < 1:
        raise InputError(f"`threads={threads}` must be at least 1, or None for all cores.")
    token = _threads.set(threads)
    try:
        yield
    finally:
        _threads.reset(token)


@contextlib.contextmanager
def working_threads(threads: int | None) -> Iterator[None]:
    """Set the worker count for a block and keep BLAS to one thread inside it."""
    import scipy.linalg  # noqa: F401  # has a BLAS of its own, which a limit reaches only once it is loaded

    with thread_count(threads), threadpoolctl.threadpool_limits(limits=1, user_api="blas"):
        yield


def row_chunks(rows: int, width: int) -> list[slice]:
    """Split `rows` rows into slices such that a chunk with `width` columns needs a moderate amount of memory.

    All lengths but the last are one power of two, so that larger blocks of rows are made of whole chunks.
    """
    step = 1 << max(64, min(8192, _CHUNK_ENTRIES // max(width, 1))).bit_length() - 1
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def in_order(work: Callable[[slice], Result], chunks: list[slice], *, waits: bool = False) -> Iterator[Result]:
    """Yield `work(chunk)` for each chunk in order, computed by the worker threads.

    Work that `waits`, for a file or a network, gets half as many threads more, so that no core waits with it; one thread
    stays one.
    """
    threads = available_threads()
    workers = min(threads + threads // 2 if waits else threads, len(chunks))
    if workers <= 1:
        yield from map(work, chunks)
        return
    with ThreadPoolExecutor(workers) as pool:
        # A limited window keeps finished parts from piling up in memory when the consumer is slower.
        waiting = [pool.submit(work, chunk) for chunk in chunks[: 2 * workers]]
        for nth in range(len(chunks)):
            yield waiting[nth].result()
            waiting[nth] = None  # type: ignore[call-overload]
            if nth + 2 * workers < len(chunks):
                waiting.append(pool.submit(work, chunks[nth + 2 * workers]))
