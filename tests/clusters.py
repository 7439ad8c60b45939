"""A cluster on this machine for tests."""

import contextlib

import distributed


@contextlib.contextmanager
def two_workers():
    """Start two workers, and yield a client of theirs."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
