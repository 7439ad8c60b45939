import errno
import json
import os

import numpy as np
import pyarrow.parquet as pq
import pytest

import leanset
from leanset import RunFolderError, pruning
from leanset.runs import RunFolder
from leanset.select import cache, measure

FILES = {
    *("kept.txt", "removed.txt", "kept.csv", "removed.csv", "selection.parquet"),
    *("certificate.json", "settings.json", "source.json", "frontier.csv", "manifest.json"),
}


@pytest.fixture
def run(toy, tmp_path):
    out = tmp_path / "run"
    return leanset.prune(*toy[:2], fraction=0.4, validation=toy[2], l2=1e-2, out=out), out


def test_the_folder_holds_what_was_promised(toy, run):
    result, out = run
    assert {path.name for path in out.iterdir()} == FILES
    assert [int(line) for line in (out / "kept.txt").read_text().splitlines()] == result.kept.tolist()
    table = pq.read_table(out / "selection.parquet").to_pydict()
    assert table["row"] == list(range(240))
    assert [row for row, kept in zip(table["row"], table["kept"], strict=True) if kept] == result.kept.tolist()
    assert table["label"] == [str(label) for label in toy[1]]
    np.testing.assert_allclose(table["influence_norm"], result.influence_norm)
    assert json.loads((out / "certificate.json").read_text()) == result.certificate.to_dict()
    assert (out / "frontier.csv").read_text().startswith("removed,fraction,newton_change,refit_change")


def test_load_returns_what_was_saved(run, tmp_path):
    result, out = run
    again = leanset.load(out)
    assert again.certificate == result.certificate
    assert again.frontier == result.frontier
    assert again.settings == result.settings
    again.save(tmp_path / "copy")
    assert leanset.load(tmp_path / "copy").certificate == result.certificate


def test_a_finished_run_is_not_computed_again(toy, run, monkeypatch):
    result, out = run
    monkeypatch.setattr(pruning, "fitted_task", None)  # any computation would fail
    again = leanset.prune(*toy[:2], fraction=0.4, validation=toy[2], l2=1e-2, out=out)
    assert again.certificate == result.certificate


def test_an_interrupted_run_resumes_where_it_stopped(toy, tmp_path, monkeypatch):
    searched = []
    plain_search = measure.searched

    def counted(search, count, share, progress):
        if len(searched) == 3:
            raise KeyboardInterrupt
        searched.append(count)
        return plain_search(search, count, share, progress)

    monkeypatch.setattr(cache, "searched", counted)
    options = {"fraction": 0.4, "l2": 1e-2, "out": tmp_path / "run"}
    with pytest.raises(KeyboardInterrupt):
        leanset.prune(*toy[:2], **options)
    assert not (tmp_path / "run" / "certificate.json").exists()
    first = list(searched)
    searched.clear()
    searched.extend([0] * 4)  # past the interruption
    resumed = leanset.prune(*toy[:2], **options)
    assert not set(first) & set(searched[4:])
    monkeypatch.undo()
    fresh = leanset.prune(*toy[:2], fraction=0.4, l2=1e-2)
    assert (resumed.removed == fresh.removed).all()
    assert resumed.certificate == fresh.certificate
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES


@pytest.mark.parametrize(
    ("change", "named"),
    [({"seed": 1}, "`seed`"), ({"l2": 1e-3}, "`l2`"), ({"fraction": 0.5}, "`budget`"), ({"pinned": [3]}, "`pinned`")],
)
def test_changed_settings_are_noticed(toy, run, change, named):
    options = {"fraction": 0.4, "validation": toy[2], "l2": 1e-2} | change
    with pytest.raises(RunFolderError, match=f"contains a run with different {named}.*overwrite"):
        leanset.prune(*toy[:2], out=run[1], **options)


def test_changed_data_is_noticed_and_can_be_overwritten(toy, run):
    features = toy[0].copy()
    features[7, 2] += 1e-6
    options = {"fraction": 0.4, "validation": toy[2], "l2": 1e-2, "out": run[1]}
    with pytest.raises(RunFolderError, match="contains a run with different data"):
        leanset.prune(features, toy[1], **options)
    again = leanset.prune(features, toy[1], overwrite=True, **options)
    assert again.certificate.data_fingerprint != run[0].certificate.data_fingerprint


def test_a_folder_in_other_use_is_left_alone(toy, tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    for overwrite in (False, True):
        with pytest.raises(RunFolderError, match="contains something that is not a leanset run"):
            leanset.prune(*toy[:2], fraction=0.4, out=tmp_path, overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(RunFolderError, match="is a file"):
        leanset.prune(*toy[:2], fraction=0.4, out=tmp_path / "thesis.tex")


def test_another_programs_settings_are_not_taken_for_a_run(toy, tmp_path):
    (tmp_path / "settings.json").write_text('{"editor.fontSize": 12}')
    (tmp_path / "kept.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="not a leanset run"):
        leanset.prune(*toy[:2], fraction=0.4, out=tmp_path, overwrite=True)
    assert (tmp_path / "kept.txt").read_text() == "mine"


def test_a_failed_overwrite_leaves_the_old_run_whole(toy, run):
    result, out = run
    with pytest.raises(leanset.InputError, match="would visit"):
        leanset.prune(*toy[:2], fraction=0.5, out=out, overwrite=True, solver=leanset.Exhaustive())
    assert leanset.load(out).certificate == result.certificate


def test_a_call_that_cannot_succeed_does_not_block_the_corrected_one(toy, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(leanset.InputError, match="would visit"):
        leanset.prune(*toy[:2], fraction=0.4, out=out, solver=leanset.Exhaustive())
    assert not out.exists()


def test_one_validation_example_has_a_gap_without_an_interval(toy, tmp_path):
    validation = toy[2][0][:1], toy[2][1][:1]
    result = leanset.prune(*toy[:2], count=30, validation=validation, out=tmp_path / "run", frontier=False)
    assert result.certificate.validation_loss_gap_low is None
    assert leanset.load(tmp_path / "run").certificate == result.certificate
    assert all(check.holds for check in leanset.verify(tmp_path / "run", *toy[:2], validation=validation))


def test_an_unwritable_place_is_named(toy):
    with pytest.raises(RunFolderError, match=r"^/proc/leanset: cannot create"):
        leanset.prune(*toy[:2], fraction=0.4, out="/proc/leanset")


def test_a_full_disk_leaves_no_half_written_file(toy, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    result = leanset.prune(*toy[:2], fraction=0.4, l2=1e-2, frontier=False)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunFolderError, match="cannot write: No space left on device"):
        result.save(tmp_path / "run")
    assert [path for path in (tmp_path / "run").rglob("*") if path.is_file()] == []


def test_a_write_replaces_a_file_at_once(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path)
    folder.write_text("frontier.csv", "old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        folder.write_text("frontier.csv", "new")
    assert folder.read_text("frontier.csv") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["frontier.csv"]


def test_missing_and_damaged_files_are_named(run):
    _, out = run
    (out / "kept.txt").write_text("1\ntwo\n")
    with pytest.raises(RunFolderError, match=r"kept\.txt: must contain one row number per line"):
        leanset.load(out)
    (out / "kept.txt").unlink()
    with pytest.raises(RunFolderError, match=r"kept\.txt: cannot read: No such file"):
        leanset.load(out)
    (out / "kept.txt").write_text("1\n")
    (out / "frontier.csv").write_text("removed\n3\n")
    with pytest.raises(RunFolderError, match=r"frontier\.csv: is not a frontier"):
        leanset.load(out)
    (out / "selection.parquet").write_bytes(b"not parquet")
    with pytest.raises(RunFolderError, match=r"selection\.parquet: is not a parquet file"):
        leanset.load(out)


def test_infinite_numbers_become_null_in_json(tmp_path):
    RunFolder(tmp_path).write_json("a.json", {"x": float("inf"), "y": [float("nan"), 1.0]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": None, "y": [None, 1.0]}
