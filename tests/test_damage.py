"""Damaged, hostile and half-written files of a run folder: one clear error each, and no work lost."""

import contextlib
import json
import os
import shutil
import stat
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leanset
from leanset import LeansetError, LeansetWarning, RunFolderError, pruning
from leanset._folder import Folder
from leanset.runs import RunFolder

OPTIONS = {"fraction": 0.3, "l2": 1e-2, "proposals": 1000, "frontier": False, "threads": 1, "progress": False}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 60)
    return rng.normal(size=(60, 2)) + labels[:, None], labels


@pytest.fixture(scope="module")
def saved(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("saved") / "run"
    return leanset.prune(*data, out=out, **OPTIONS), out


def copy_of(saved, tmp_path):
    return shutil.copytree(saved[1], tmp_path / "run")


BROKEN_TEXTS = {
    "not UTF-8": b"\xff\xfe\x80",
    "very deep": b"[" * 200_000,
    "a number of 5,000 digits": b'{"n": ' + b"9" * 5000 + b"}",
    "no object": b"[1, 2]",
    "nothing": b"",
}


@pytest.mark.parametrize("name", ["settings.json", "certificate.json", "source.json"])
@pytest.mark.parametrize("content", BROKEN_TEXTS.values(), ids=BROKEN_TEXTS.keys())
def test_json_that_cannot_be_read_is_named(saved, tmp_path, data, name, content):
    run = copy_of(saved, tmp_path)
    (run / name).write_bytes(content)
    with pytest.raises(RunFolderError, match=name):
        leanset.load(run)
    with pytest.raises(RunFolderError, match=name):
        leanset.verify(run, *data)


@pytest.mark.parametrize("content", [b"9" * 5000, b"1" + b"0" * 23, b"\xff", b"one"])
def test_row_numbers_that_are_none_are_named(saved, tmp_path, content):
    run = copy_of(saved, tmp_path)
    (run / "kept.txt").write_bytes(content)
    with pytest.raises(RunFolderError, match=r"kept\.txt"):
        leanset.load(run)


@pytest.mark.parametrize("value", [None, [{}], {"a": 1}, "x", -1, 10**30, True, float("nan")], ids=repr)
def test_no_value_of_a_certificate_or_of_settings_is_computed_with_unchecked(saved, tmp_path, value):
    """Whatever a value is replaced by, the run loads or a `LeansetError` says why not; nothing else is raised."""
    run = copy_of(saved, tmp_path)
    refused = 0
    for name in ("certificate.json", "settings.json", "source.json"):
        before = (run / name).read_text()
        for key in json.loads(before):
            (run / name).write_text(json.dumps(json.loads(before) | {key: value}))
            try:
                result = leanset.load(run)
                assert result.summary()
            except LeansetError:
                refused += 1
        (run / name).write_text(before)
    assert refused > 20


def test_words_that_verify_needs_are_checked_before(saved, tmp_path, data):
    run = copy_of(saved, tmp_path)
    for name, key, value in (
        ("certificate.json", "seed", -1),
        ("certificate.json", "data_fingerprint", None),
        ("settings.json", "pinned", [10**23]),
        ("settings.json", "weight_bounds", None),
        ("settings.json", "loss", [{}]),
    ):
        before = (run / name).read_text()
        (run / name).write_text(json.dumps(json.loads(before) | {key: value}))
        with pytest.raises(RunFolderError, match=f"{name}: `{key}` must be"):
            leanset.verify(run, *data)
        (run / name).write_text(before)


SELECTIONS = {
    "no columns": lambda table: table.select([]),
    "one name twice": lambda table: pa.Table.from_arrays([table["row"], table["row"]], names=["row", "row"]),
    "no rows column": lambda table: table.drop_columns(["row"]),
    "text for numbers": lambda table: table.set_column(0, "row", pa.array(["x"] * len(table))),
    "missing values": lambda table: table.set_column(2, "kept", pa.array([None] * len(table), pa.bool_())),
}


@pytest.mark.parametrize("change", SELECTIONS.values(), ids=SELECTIONS.keys())
def test_a_selection_without_what_it_needs_is_named(saved, tmp_path, data, change):
    run = copy_of(saved, tmp_path)
    pq.write_table(change(pq.read_table(run / "selection.parquet")), run / "selection.parquet")
    for use in (lambda: leanset.load(run), lambda: leanset.verify(run, *data)):
        with pytest.raises(RunFolderError, match=r"selection\.parquet"):
            use()


def interrupted(data, out, monkeypatch):
    """Leave the stages of a run that was interrupted before its last files."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pruning.PruneResult, "write_to", stop)
    with pytest.raises(KeyboardInterrupt):
        leanset.prune(*data, out=out, suspects="drop", **OPTIONS)
    monkeypatch.undo()


def _other_arrays(path):
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{name: array if name == "identity" else array[None] for name, array in arrays.items()})


def _fewer_arrays(path):
    with np.load(path) as file:
        identity = file["identity"]
    np.savez(path, identity=identity)


def _encrypted(path):
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = content.find(mark)
        while place >= 0:
            content[place + at] |= 1
            place = content.find(mark, place + 4)
    path.write_bytes(content)


DAMAGES = {
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "one bit": lambda path: path.write_bytes(path.read_bytes().replace(b"NUMPY", b"NUMPX", 1)),
    "text": lambda path: path.write_text("stage"),
    "no arrays": lambda path: zipfile.ZipFile(path, "w").close(),
    "encrypted": _encrypted,
    "fewer arrays": _fewer_arrays,
    "other arrays": _other_arrays,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_stages_are_set_aside_and_computed_again(data, tmp_path, monkeypatch, damage):
    expected = leanset.prune(*data, suspects="drop", **OPTIONS)
    interrupted(data, tmp_path / "run", monkeypatch)
    stages = [path for path in (tmp_path / "run" / "stages").iterdir() if path.suffix == ".npz"]
    assert {"head.npz", "trusted.npz"} < {path.name for path in stages}
    for path in stages:
        damage(path)
    with (
        pytest.warns(LeansetWarning, match="computed again")
        if damage is not DAMAGES["no arrays"]
        else contextlib.nullcontext()
    ):
        result = leanset.prune(*data, out=tmp_path / "run", suspects="drop", **OPTIONS)
    assert result.certificate == expected.certificate
    assert not (tmp_path / "run" / "stages").exists()


def test_what_others_put_beside_the_stages_stays(data, tmp_path, monkeypatch):
    out = tmp_path / "run"
    interrupted(data, out, monkeypatch)
    (out / "stages" / "my-notes.txt").write_text("mine")
    leanset.prune(*data, out=out, suspects="drop", **OPTIONS)
    assert [path.name for path in (out / "stages").iterdir()] == ["my-notes.txt"]
    leanset.prune(*data, out=out, overwrite=True, **OPTIONS | {"l2": 0.1})
    assert (out / "stages" / "my-notes.txt").read_text() == "mine"


def killed_while_writing(folder, name):
    """Let a process end after it has written a file, before it moves it into place."""
    if not (gone := os.fork()):
        os.replace = lambda *_: os._exit(0)
        folder.write_text(name, "half")
        os._exit(1)  # never here
    os.waitpid(gone, 0)


def test_files_that_a_killed_process_was_writing_are_swept(tmp_path):
    folder = Folder(tmp_path)
    killed_while_writing(folder, "a.txt")
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".a.txt.kept").write_text("not leanset's")
    folder.sweep()
    assert [path.name for path in tmp_path.iterdir()] == [".a.txt.kept"]


def test_writing_a_file_again_removes_what_a_killed_process_had_of_it(tmp_path):
    # Pages and tables are written into folders that nobody opens and sweeps before; there may be other files, too.
    folder = Folder(tmp_path)
    killed_while_writing(folder, "a.txt")
    killed_while_writing(folder, "other a.txt")
    (tmp_path / ".a.txt.kept").write_text("not leanset's")
    folder.write_text("a.txt", "whole")
    names = {path.name for path in tmp_path.iterdir()}
    assert len(names) == 3
    assert names > {"a.txt", ".a.txt.kept"}
    assert any(name.startswith(".other a.txt.") for name in names)  # goes when that file is written


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_files_have_the_rights_that_the_umask_leaves(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        Folder(tmp_path).write_text("a.txt", "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == mode


def test_a_pipe_in_a_run_folder_does_not_block(saved, tmp_path):
    run = copy_of(saved, tmp_path)
    for name in ("settings.json", "frontier.csv", "selection.parquet"):
        (run / name).unlink()
        os.mkfifo(run / name)
    with pytest.raises(RunFolderError, match="not a regular file"):
        leanset.load(run)
    with pytest.raises(RunFolderError):
        RunFolder(run).read_settings()
