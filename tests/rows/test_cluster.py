import os
import signal
import subprocess
import sys
import time

import cloudpickle
import dask.array
import distributed
import numpy as np
import psutil
import pytest

import leanset
from leanset.data import open_source
from leanset.rows import (
    MemoryRows,
    ScaledRows,
    all_rows,
    as_table,
    computed_by,
    dask_cluster,
    gathered,
    kept_rows,
    map_rows,
    some_entries,
    sum_rows,
)
from leanset.rows.cluster import DaskEngine, RemoteRows
from tests.clusters import two_workers
from tests.rows.places import mixture, write_npy, write_parquet, write_zarr
from tests.rows.test_places import pruned, same_answer
from tests.test_interrupts import in_a_finaliser as interrupted_in_a_finaliser

FEATURES, LABELS = mixture()


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


def tables(folder):
    yield "memory", as_table(FEATURES)
    yield (
        "dask",
        leanset.data.checked_examples(dask.array.from_array(FEATURES, chunks=(9_999, 4)), LABELS, most=0).features,
    )
    for write in (write_npy, write_zarr, write_parquet):
        yield write.__name__, open_source(write(folder, FEATURES, LABELS), features_memory=0).features


def test_a_cluster_changes_no_bit_wherever_the_rows_are(tmp_path, client):
    weights = np.random.default_rng(0).exponential(size=len(LABELS)) * (LABELS != 3)
    mean, scale = FEATURES.mean(axis=0, dtype=float), FEATURES.std(axis=0, dtype=float)

    def moments(x, y, w):
        return (x * w[:, None]).T @ x, np.bincount(y, weights=w, minlength=8)

    def results(table):
        rows = ScaledRows(table, mean, scale, 1.0)
        total = sum_rows(moments, rows, LABELS, width=16, weights=weights)
        return *total, map_rows(lambda x, y: x[:, 0] * y, rows, LABELS, width=16), sum_rows(len, rows, width=16)

    expected = results(MemoryRows(FEATURES))
    scaled = np.c_[(FEATURES - mean) / scale, np.ones(len(LABELS))]
    np.testing.assert_allclose(expected[0], (scaled * weights[:, None]).T @ scaled, rtol=1e-9)
    for name, table in tables(tmp_path):
        with computed_by(DaskEngine(client)):
            found = results(table)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)


def test_what_workers_keep_is_what_they_would_send(client):
    def squares(x, y):
        return np.c_[x[:, :2] ** 2, y]

    table, some = as_table(FEATURES), np.array([69_999, 3, 3, 65_536])
    expected = map_rows(squares, table, LABELS, width=20)
    with computed_by(DaskEngine(client)):
        kept = kept_rows(squares, table, LABELS, width=20)
        assert not isinstance(kept, np.ndarray)
        np.testing.assert_array_equal(map_rows(lambda x, k: k, table, kept, width=20), expected)
        np.testing.assert_array_equal(some_entries(kept, table, some), expected[some])
        total = sum_rows(lambda x, k: k.T @ x, table, kept, width=20)
    np.testing.assert_array_equal(total, sum_rows(lambda x, k: k.T @ x, table, expected, width=20))


def test_gathered_rows_are_the_same_copied_or_not_here_or_with_the_workers(tmp_path, client):
    chosen, mean = np.flatnonzero(LABELS % 3 == 1), FEATURES.mean(axis=0, dtype=float)
    scaled = FEATURES[chosen].astype(float) - mean

    def moments(table, most):
        few = gathered(ScaledRows(table, mean, np.ones(15), 0.0), chosen, most)
        return few, sum_rows(lambda x: x.T @ x, few, width=16)

    _, expected = moments(as_table(FEATURES), 2**30)
    np.testing.assert_allclose(expected[:15, :15], scaled.T @ scaled, rtol=1e-9)
    for name, table in list(tables(tmp_path))[:4]:
        engine = DaskEngine(client)
        for most in (0, 5 * len(chosen) * 15, 2**30):  # no copy, a copy of what is stored, and one of what is scaled
            np.testing.assert_array_equal(moments(table, most)[1], expected, err_msg=name)
            with computed_by(engine):
                few, found = moments(table, most)
            np.testing.assert_array_equal(found, expected, err_msg=name)
        assert isinstance(few, RemoteRows)
        del few
        assert len(engine._held) <= 2, "blocks of tables that are gone stay with the workers"


class Counting(DaskEngine):
    """Does something at one of its passes."""

    def __init__(self, client, nth, then):
        super().__init__(client)
        self.nth, self.then, self.sizes = nth, then, []

    def _submitted(self, block, whole):
        place = None if isinstance(whole.table, RemoteRows) else whole.table._part(slice(0, 1))
        self.sizes.append(len(cloudpickle.dumps((block, whole.work, place))))
        parts = super()._submitted(block, whole)
        if len(self.sizes) == self.nth:
            self.then()
        return parts


@pytest.fixture(scope="module")
def expected():
    return pruned(FEATURES, LABELS)


def test_a_killed_worker_changes_nothing_and_no_pass_sends_the_rows(tmp_path, client, expected, monkeypatch):
    source = write_zarr(tmp_path, FEATURES, LABELS)

    def kill_one():
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    engine = Counting(client, 20, kill_one)
    monkeypatch.setattr("leanset.rows.cluster.DaskEngine", lambda client: engine)
    same_answer(pruned(source, dask=client), expected)
    assert len(engine.sizes) > 20
    head, hessian = 8 * 8 * 16, 4 * (7 * 16) ** 2  # of theta in float64, and of its inverse in float32
    assert max(engine.sizes) < hessian + 10 * head + 2**14


def test_a_lost_scheduler_is_one_error_and_the_run_resumes(tmp_path, expected, monkeypatch):
    with (
        distributed.LocalCluster(
            n_workers=1,
            processes=False,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster.scheduler_address, timeout=2, set_as_default=False) as client,
    ):
        monkeypatch.setattr("leanset.rows.cluster.DaskEngine", lambda client: Counting(client, 60, cluster.close))
        monkeypatch.setattr("leanset.rows.cluster._WAIT", 1.0)
        with pytest.raises(leanset.ClusterError, match="run the same again"):
            pruned(FEATURES, LABELS, dask=client, out=tmp_path / "run")
    assert (tmp_path / "run").is_dir()
    same_answer(pruned(FEATURES, LABELS, out=tmp_path / "run"), expected)


def listening(process):
    return [each.laddr.ip for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN]


def test_a_local_cluster_listens_on_the_loopback_address_and_is_closed():
    before, others = set(listening(psutil.Process())), psutil.Process().children(recursive=True)
    with dask_cluster("local:1") as engine:
        started = [each for each in psutil.Process().children(recursive=True) if each not in others]
        found = {ip for process in (psutil.Process(), *started) for ip in listening(process)}
        assert engine is not None
        assert found
    assert found - before <= {"127.0.0.1"}
    left = [process for process in started if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]
    # Python itself starts one process that outlives the first pool of processes.
    assert not [process for process in left if "resource_tracker" not in " ".join(process.cmdline())]


def children_of(process):
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@pytest.mark.parametrize("sign", ["the first process", "a worker", "the first stage"])
def test_ctrl_c_ends_a_run_and_its_local_cluster(tmp_path, sign):
    def has_begun():
        if sign == "the first stage":
            return (tmp_path / "run" / "stages" / "head.npz").is_file()
        return len(children_of(run)) > (sign == "a worker")  # the first one looks after the resources of the others

    source, out = write_npy(tmp_path, FEATURES[:3000], LABELS[:3000]), str(tmp_path / "run")
    options = ["--fraction", "0.5", "--seconds", "300", "--dask", "local:1", "--quiet", "--out", out]
    command = [sys.executable, "-m", "leanset", "prune", source, *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        try:
            while run.poll() is None and not has_begun():
                time.sleep(0.01)
            children = children_of(run)
            os.killpg(run.pid, signal.SIGINT)  # to all processes, as a terminal does
            _, said = run.communicate(timeout=60)
        finally:
            run.kill()  # or a run that does not end would keep the test from ending, too
    assert (run.returncode, said.count("\n")) == (130, 1), said
    assert said.startswith("leanset: interrupted.")
    assert children
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive


def test_ctrl_c_in_a_finaliser_ends_a_pass(client):
    def work():
        with dask_cluster(client) as engine, computed_by(engine):
            interrupted_in_a_finaliser()
            map_rows(lambda x: time.sleep(5), as_table(FEATURES), width=16)

    with pytest.raises(KeyboardInterrupt):
        work()


def test_who_has_no_dask_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(leanset.MissingExtraError, match=r"leanset\[dask\]"):
        pruned(FEATURES, LABELS, dask="local:1")


@pytest.mark.parametrize("where", ["local:0", "local:two", "localhost"])
def test_what_is_no_cluster_is_refused_before_anything_is_read(where):
    with pytest.raises(leanset.InputError, match="the address of a scheduler"):
        leanset.Settings(fraction=0.5, dask=where)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr("leanset.rows.cluster._CONNECT", 0.2)
    with pytest.raises(leanset.ClusterError, match=r"tcp://127.0.0.1:1"):
        pruned(FEATURES, LABELS, dask="tcp://127.0.0.1:1")


def test_a_local_cluster_that_does_not_start_is_one_error(monkeypatch):
    def fails(**options):
        raise RuntimeError("Cluster failed to start: no port is free")

    monkeypatch.setattr(distributed, "LocalCluster", fails)
    with pytest.raises(leanset.ClusterError, match="no port is free"):
        pruned(FEATURES, LABELS, dask="local:1")


def test_dask_arrays_need_no_cluster():
    array = dask.array.from_array(FEATURES[:3000], chunks=(1000, 5))
    examples = leanset.data.checked_examples(array, dask.array.from_array(LABELS[:3000]), most=0)
    np.testing.assert_array_equal(all_rows(examples.features), FEATURES[:3000])
    np.testing.assert_array_equal(examples.labels, LABELS[:3000])
