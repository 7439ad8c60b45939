import errno
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import leanset
from leanset import RunFolderError
from leanset._lock import locked
from leanset.runs import RunFolder
from tests.faults.race import locked_out, wrong_answers

OPTIONS = {"fraction": 0.4, "l2": 1e-2, "frontier": False}


def test_a_second_run_in_a_folder_is_refused_with_the_reason(toy, tmp_path):
    with locked(tmp_path / "run"):
        for overwrite in (False, True):
            with pytest.raises(RunFolderError, match=r"run: another run is working in this folder.*`wait=True`"):
                leanset.prune(*toy[:2], out=tmp_path / "run", overwrite=overwrite, **OPTIONS)
        with pytest.raises(RunFolderError, match="another run"):
            leanset.prune(*toy[:2], **OPTIONS).save(tmp_path / "run")
    assert not (tmp_path / "run").exists()  # nothing was written, and it did not exist before
    leanset.prune(*toy[:2], out=tmp_path / "run", **OPTIONS)


def test_a_second_run_waits_if_asked(toy, tmp_path):
    held, release, order = threading.Event(), threading.Event(), []

    def hold():
        with locked(tmp_path / "run"):
            held.set()
            release.wait()
            order.append("first")

    def prune():
        leanset.prune(*toy[:2], out=tmp_path / "run", wait=True, **OPTIONS)
        order.append("second")

    threads = [threading.Thread(target=hold), threading.Thread(target=prune)]
    threads[0].start()
    held.wait()
    threads[1].start()
    release.set()
    for thread in threads:
        thread.join()
    assert order == ["first", "second"]
    assert leanset.load(tmp_path / "run").certificate.removed == 96


def test_the_lock_dies_with_its_process(tmp_path):
    code = f"""
from leanset._lock import locked
with locked({str(tmp_path / "run")!r}):
    print("held", flush=True)
    input()
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(RunFolderError, match="another run"), locked(tmp_path / "run"):
        pass
    holder.kill()
    holder.communicate()
    with locked(tmp_path / "run"):
        pass


def test_a_folder_that_is_removed_while_one_waits_is_made_again(tmp_path):
    release = threading.Event()
    waiting = threading.Event()

    def wait():
        waiting.set()
        with locked(tmp_path / "run", wait=True):
            (tmp_path / "run" / "mine").write_text("")

    with locked(tmp_path / "run"):
        thread = threading.Thread(target=wait)
        thread.start()
        waiting.wait()
        release.wait(0.1)
    thread.join()
    assert (tmp_path / "run" / "mine").exists()


def test_a_stage_of_other_settings_is_not_adopted(toy, tmp_path):
    other = RunFolder(tmp_path / "other")
    other.open({"budget": {}, "data_fingerprint": "", "leanset_version": "", "l2": 1.0})
    other.save_stage("head", theta=np.ones((3, 6)), l2=np.array(1.0), gradient_norm=0, error_bound=0, iterations=1)
    assert other.recalled("head", dict) is not None
    out = tmp_path / "run"
    first = leanset.prune(*toy[:2], **OPTIONS)
    folder = RunFolder(out)
    folder.open(first.settings)
    shutil.copy(tmp_path / "other" / "stages" / "head.npz", out / "stages" / "head.npz")
    assert folder.recalled("head", dict) is None
    assert leanset.prune(*toy[:2], out=out, **OPTIONS).certificate == first.certificate


@pytest.mark.parametrize("left", [[], [".settings.json.x1"], ["head.npz"]])
def test_what_a_run_leaves_that_died_at_its_start_or_end_locks_nobody_out(toy, tmp_path, left):
    (tmp_path / "run" / "stages").mkdir(parents=True)
    for name in left:
        (tmp_path / "run" / "stages" / name).write_bytes(b"")
    leanset.prune(*toy[:2], out=tmp_path / "run", overwrite=bool(left), **OPTIONS)
    assert leanset.load(tmp_path / "run").certificate.removed == 96


def test_stages_of_something_else_are_left_alone(toy, tmp_path):
    (tmp_path / "run" / "stages").mkdir(parents=True)
    (tmp_path / "run" / "stages" / "act-1.txt").write_text("Enter two gentlemen.")
    with pytest.raises(RunFolderError, match="not a leanset run"):
        leanset.prune(*toy[:2], out=tmp_path / "run", overwrite=True, **OPTIONS)
    assert (tmp_path / "run" / "stages" / "act-1.txt").exists()


def test_a_disk_that_is_full_at_the_start_leaves_no_folder(toy, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(RunFolderError, match="No space left"):
            leanset.prune(*toy[:2], out=tmp_path / "run", **OPTIONS)
    assert not (tmp_path / "run").exists()


def test_pairs_of_runs_at_the_same_moment_and_killed_runs(tmp_path):
    """A slice of `python -m tests.faults race`."""
    wrong, refused = wrong_answers(6, tmp_path)
    assert (wrong, locked_out(1, tmp_path)) == ([], [])
    assert refused > 0
