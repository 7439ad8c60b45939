import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from leanset._errors import ClusterError
from leanset._interrupts import held_interrupts

# Dask lets workers give memory back to the system at once, and glibc then asks for it again in every pass, which takes up
# to half of it. So chunks and what is computed from them are taken from memory that stays.
_MEMORY_THAT_STAYS = {"MALLOC_TRIM_THRESHOLD_": 2**28, "MALLOC_MMAP_THRESHOLD_": 2**26}
_PATIENCE = 10.0  # seconds: for a cluster that is to be closed to be ready first, and to close


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """Run a Dask cluster of processes on this machine for the length of a block.

    It starts in a thread of its own, because an interrupt would leave it half started: with processes that nobody ends,
    or waiting for ever. Here it is waited for, and then closed.
    """
    starting: Future[Any] = Future()
    try:
        with held_interrupts():  # which neither the thread nor the workers get: this process ends them
            threading.Thread(target=_start, args=(workers, starting), daemon=True).start()
        yield _started(starting)
    finally:
        if not starting.cancel():
            with contextlib.suppress(Exception):  # what does not end in time ends with this process
                starting.result(_PATIENCE).close(timeout=_PATIENCE)


def _started(starting: "Future[Any]") -> Any:
    try:
        return starting.result()
    except Exception as error:
        raise ClusterError(f"no Dask cluster could be started on this machine: {error}.") from None


def _start(workers: int, starting: "Future[Any]") -> None:
    import dask
    import distributed

    if not starting.set_running_or_notify_cancel():
        return
    try:
        with dask.config.set({"distributed.nanny.pre-spawn-environ": _environment()}):
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # None would still listen, and on all addresses
                worker_dashboard_address="127.0.0.1:0",
                silence_logs=50,  # closing a worker that is busy is no error
            )
    except BaseException as error:
        starting.set_exception(error)
    else:
        starting.set_result(cluster)


def _environment() -> dict[str, Any]:
    import dask

    return {**dask.config.get("distributed.nanny.pre-spawn-environ"), **_MEMORY_THAT_STAYS}
