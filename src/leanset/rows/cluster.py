"""Passes on the workers of a Dask cluster. Scheduling, transport and recovery are Dask's."""

import contextlib
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import threadpoolctl

from leanset._arrays import AnyArray, Rows, Vector
from leanset._errors import ClusterError, InputError, missing_extra
from leanset._interrupts import certain_interrupts
from leanset._threads import thread_count
from leanset.rows.columns import Stored, stored_in, with_places, with_stored
from leanset.rows.dask_rows import DaskRows
from leanset.rows.engine import Block, Engine, Pass
from leanset.rows.local_cluster import local_cluster
from leanset.rows.memory import MemoryRows, as_table
from leanset.rows.ordered import BLOCK_ROWS, GROUP, blocks_in, summed
from leanset.rows.scaled import ScaledRows
from leanset.rows.table import PlacedRows, RowTable

LOCAL = "local:"
_KEPT = 16  # arrays whose blocks stay with the workers, so that they travel once and not in every pass
_LEAST_AHEAD = 8  # items that wait for a worker
_PATIENCE = 20  # times that a result is waited for while there is no worker at all
_WAIT = 15.0  # seconds each time
_CONNECT = 20.0  # seconds to reach a scheduler


@dataclass(frozen=True, eq=False)
class RemoteRows(PlacedRows):
    """Rows that workers have computed and keep; if a worker is lost, others compute its blocks again."""

    client: Any
    blocks: tuple[Any, ...]

    def _read_rows(self, rows: slice | Rows) -> AnyArray:
        if isinstance(rows, slice):
            rows = np.arange(rows.start, rows.stop)
        out, block = np.empty((len(rows), self._shape[1]), self._dtype), rows // BLOCK_ROWS
        inside = {nth: block == nth for nth in np.unique(block).tolist()}
        parts = {
            nth: self.client.submit(np.take, self.blocks[nth], rows[here] - nth * BLOCK_ROWS, axis=0, pure=False)
            for nth, here in inside.items()
        }
        for nth, here in inside.items():
            out[here] = parts[nth].result()
        return out


class DaskEngine:
    """Computes the blocks of passes on a cluster.

    A worker gets the place of its rows and reads them, so only sums and single columns travel. Blocks of arrays in memory
    are tasks whose result is the block: if a worker is lost, the scheduler still knows them, and other workers go on.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._held: OrderedDict[int, tuple[Any, list[Any]]] = OrderedDict()  # by id, until the object is gone

    def summed(self, block: Block, whole: Pass) -> Any:
        """Return the sum over all blocks; groups of blocks are added up by workers."""
        with self._explained():
            parts = self._submitted(block, whole)
            while len(parts) > 1:
                groups = [parts[start : start + GROUP] for start in range(0, len(parts), GROUP)]
                parts = [self.client.submit(summed, group, pure=False) for group in groups]
            return self._result(parts[0])

    def mapped(self, block: Block, whole: Pass) -> Iterator[AnyArray]:
        """Yield the results of all blocks."""
        with self._explained():
            parts = self._submitted(block, whole)
            for nth in range(len(parts)):
                yield self._result(parts[nth])
                parts[nth] = None  # so that the worker can forget it

    def kept(self, block: Block, whole: Pass) -> RowTable:
        """Return the results of all blocks as a table of futures."""
        with self._explained():
            parts = self._submitted(block, whole)
            columns_of, dtype = self._result(self.client.submit(_kind, parts[0], pure=False))
            return RemoteRows((len(whole.table), columns_of), dtype, self.client, tuple(parts))

    def each(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item; only some items are with the workers at a time."""
        with self._explained():
            known, waiting = self.client.submit(_same, work, pure=False), deque[Any]()
            ahead = max(_LEAST_AHEAD, 3 * sum(self.client.nthreads().values()))
            for item in items:
                waiting.append(self.client.submit(_called, known, item, pure=False))
                if len(waiting) > ahead:
                    yield self._result(waiting.popleft())
            while waiting:
                yield self._result(waiting.popleft())

    def _submitted(self, block: Block, whole: Pass) -> list[Any]:
        stored, weighted = stored_in(whole.columns), whole.weights is not None
        task = self.client.submit(
            _same, (block, whole.work, with_places(whole.columns, stored), whole.width), pure=False
        )
        arrays = [*stored, *([] if whole.weights is None else [whole.weights])]
        inputs = [self._blocks(each) for each in (whole.table, *arrays)]
        return [
            self.client.submit(_computed, task, weighted, *parts, pure=False) for parts in zip(*inputs, strict=True)
        ]

    def _blocks(self, stored: Stored) -> list[Any]:
        """Return the blocks of a table or an array as futures; those that were used lately are with the workers already."""
        if isinstance(stored, RemoteRows):
            return list(stored.blocks)
        key = id(stored)
        if key not in self._held:
            blocks = self._sent(stored)
            # Not the object itself: whoever has it decides how long it lives, here and on the workers.
            self._held[key] = weakref.ref(stored, lambda _: self._held.pop(key, None)), blocks
            arrays = [each for each, (held, _) in self._held.items() if isinstance(held(), np.ndarray)]
            for oldest in arrays[:-_KEPT]:
                del self._held[oldest]
        self._held.move_to_end(key)
        return self._held[key][1]

    def _sent(self, stored: Stored) -> list[Any]:
        if isinstance(stored, DaskRows):
            return [
                self.client.submit(MemoryRows, part, pure=False) for part in stored.futures(self.client, BLOCK_ROWS)
            ]
        if isinstance(stored, ScaledRows):
            scaling = stored.mean, stored.scale, stored.last
            return [self.client.submit(_scaled, part, *scaling, pure=False) for part in self._blocks(stored.table)]
        blocks = blocks_in(len(stored))
        if isinstance(stored, RowTable):
            return [self.client.submit(_same, stored._part(block), pure=False) for block in blocks]
        return [self.client.submit(_same, np.ascontiguousarray(stored[block]), pure=False) for block in blocks]

    def _result(self, future: Any) -> Any:
        silent = 0
        while silent < _PATIENCE:
            try:
                return future.result(timeout=_WAIT)
            except TimeoutError:
                if future.done():
                    raise  # of the work, not of the wait
            if self.client.status in ("closing", "closed"):  # which it does by itself when it cannot connect again
                raise ConnectionError("no answer")
            silent = 0 if self.client.scheduler_info().get("workers") else silent + 1
        raise ClusterError(f"The Dask cluster has had no workers for {_PATIENCE * _WAIT:.0f} seconds. {_RESUME}")

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"A Dask worker died several times at the same block ({error.last_worker.address}); it may need more "
                f"memory. {_RESUME}"
            ) from None
        except (CancelledError, CommClosedError, ConnectionError) as error:
            raise ClusterError(
                f"The connection to the Dask scheduler was lost ({type(error).__name__}). {_RESUME}"
            ) from None


_RESUME = (
    "Finished stages are in the run folder, if there is one (`out`): run the same again, and it goes on from there."
)


@contextlib.contextmanager
def dask_cluster(where: Any) -> Iterator[Engine | None]:
    """Connect to a cluster, or start one on this machine, for the length of a block.

    `where` is the address of a scheduler, "local:4" for four workers on this machine, a client of Dask, or None for no
    cluster. What was started here is closed here, whatever happens; it listens on the loopback address only. Ctrl-C ends the
    block, whatever Dask is doing at the moment.
    """
    if where is None:
        yield None
        return
    try:
        import dask
        import distributed
    except ImportError:
        raise missing_extra("`dask`", "dask") from None
    options = {"distributed.admin.large-graph-warning-threshold": "1TB"}
    with certain_interrupts(), contextlib.ExitStack() as opened, dask.config.set(options):
        if isinstance(where, str) and where.startswith(LOCAL):
            cluster = opened.enter_context(local_cluster(int(where.removeprefix(LOCAL))))
            client = opened.enter_context(distributed.Client(cluster, set_as_default=False))
        elif isinstance(where, str):
            try:
                client = opened.enter_context(distributed.Client(where, timeout=_CONNECT, set_as_default=False))
            except (OSError, TimeoutError, ValueError) as error:
                raise ClusterError(f"`dask={where!r}`: no scheduler answers there: {error or 'no answer'}.") from None
        elif isinstance(where, distributed.Client):
            client = where
        else:
            raise InputError(f"`dask={where!r}` must be an address, 'local:N' or a `dask.distributed.Client`.")
        yield DaskEngine(client)


def _kind(part: AnyArray) -> tuple[int, Any]:
    return part.shape[1], part.dtype


def _called(work: Callable[[Any], Any], item: Any) -> Any:
    return work(item)


def _scaled(part: Stored, mean: Vector, scale: Vector, last: float) -> ScaledRows:
    return ScaledRows(as_table(part), mean, scale, last)


def _same(value: Any) -> Any:
    return value


def _computed(task: tuple[Any, ...], weighted: bool, table: Stored, *arrays: Any) -> Any:
    """Compute one block; runs on a worker."""
    block, work, columns, width = task
    stored, weights = (list(arrays[:-1]), arrays[-1]) if weighted else (list(arrays), None)
    with thread_count(1), _blas().limit(limits=1, user_api="blas"):
        return block(Pass(work, as_table(table), with_stored(columns, stored), weights, width))


@cache
def _blas() -> "threadpoolctl.ThreadpoolController":
    return threadpoolctl.ThreadpoolController()  # looks at all libraries of the process, which takes its time
