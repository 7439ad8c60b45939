"""What people have at hand works as it is, and means the same in every form."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from typer.testing import CliRunner

import leanset
from leanset import InputError
from leanset.cli.app import app

OPTIONS = {"l2": 1e-2, "frontier": False, "proposals": 50_000}


@pytest.mark.parametrize("values", [(-1, 1, 5), (1, 2, 3), ("b", "c", "d"), (0.0, 2.0, 9.0)])
def test_the_values_of_the_labels_do_not_matter(toy, values):
    features, labels, (val_features, val_labels) = toy
    by_code = leanset.prune(features, labels, fraction=0.4, validation=(val_features, val_labels), **OPTIONS)
    own, val_own = np.array(values)[labels], np.array(values)[val_labels]
    by_value = leanset.prune(features, own, fraction=0.4, validation=(val_features, val_own), **OPTIONS)
    assert (by_value.kept == by_code.kept).all()
    assert by_value.certificate.validation_loss == by_code.certificate.validation_loss
    assert by_value.labels.astype(own.dtype).tolist() == own.tolist()


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, sparse.csr_array, np.ndarray.tolist], ids=str)
def test_the_form_of_the_features_does_not_matter(toy, form):
    features, labels, (val_features, val_labels) = toy
    plain = leanset.prune(features, labels, fraction=0.4, validation=(val_features, val_labels), **OPTIONS)
    formed = leanset.prune(form(features), labels, fraction=0.4, validation=(form(val_features), val_labels), **OPTIONS)
    assert (formed.kept == plain.kept).all()
    assert formed.certificate == plain.certificate


def test_the_columns_that_were_used_are_listed_saved_and_checked(toy, tmp_path):
    features, labels, _ = toy
    frame = pd.DataFrame(features, columns=list("abcde")).assign(side=np.where(features[:, 0] > 0, "up", "down"))
    result = leanset.prune(frame, labels, keep=0.5, out=tmp_path / "run", **OPTIONS)
    assert result.columns == [*"abcde", "side_down", "side_up"]
    assert leanset.load(tmp_path / "run").columns == result.columns
    assert "7 features" in result.summary()
    assert "a, b, c, d, e, side_down, side_up" in result.summary()
    assert all(check.holds for check in leanset.verify(tmp_path / "run", pl.DataFrame(frame), labels))
    assert leanset.prune(features, labels, keep=0.5, **OPTIONS).columns is None


def test_sparse_features_beyond_the_memory_are_refused():
    wide = sparse.random(500, 9000, density=1e-3, random_state=0)
    with pytest.raises(InputError, match=r"sparse matrix of 500 × 9,000, needs 34 MiB .*`memory=16777216` allows 16"):
        leanset.prune(wide, np.arange(500) % 2, keep=0.5, memory=2**24)


@pytest.mark.parametrize(("keep", "same"), [(0.6, {"fraction": 0.4}), (144, {"count": 96})])
def test_keep_is_the_other_side_of_what_is_removed(toy, keep, same):
    by_keep, by_other = leanset.prune(*toy[:2], keep=keep, **OPTIONS), leanset.prune(*toy[:2], **same, **OPTIONS)
    assert (by_keep.kept == by_other.kept).all()


def test_a_tiny_share_keeps_one(toy):
    with pytest.raises(InputError, match="239 examples cannot be removed"):  # each of three classes keeps one
        leanset.prune(*toy[:2], keep=0.001, **OPTIONS)


@pytest.mark.parametrize("keep", [0, 1.0, -0.5, 2.5, "half", True])
def test_a_keep_that_could_mean_two_things_is_refused(toy, keep):
    with pytest.raises(InputError, match=r"`keep=.*` must be a share in \(0, 1\), or a whole number of at least 1"):
        leanset.prune(*toy[:2], keep=keep)


def test_keeping_all_is_refused(toy):
    with pytest.raises(InputError, match=r"`keep=240` must be a share below 1, or a number in 1..239 for 240 examples"):
        leanset.prune(*toy[:2], keep=240)


@pytest.mark.parametrize(("text", "kept"), [("0.25", 60), ("50", 50)])
def test_keep_on_the_command_line(toy_npz, tmp_path, text, kept):
    arguments = ["prune", str(toy_npz), "--keep", text, "--no-frontier", "--proposals", "50000", "--json"]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "run")])
    certificate = json.loads(done.stdout)["certificate"]
    assert certificate["n"] - certificate["removed"] == kept
    with np.load(toy_npz) as file:
        validation = (file["val_features"], file["val_labels"])
        checks = leanset.verify(tmp_path / "run", file["features"], file["labels"], validation=validation)
    assert all(check.holds for check in checks)
    assert f"keep {text} of 240" in [check.detail for check in checks]


def test_summary_and_repr_are_short_and_speak_of_the_users_labels(toy):
    features, labels, _ = toy
    names = np.array(["ant", "bee", "cat"])[labels]
    result = leanset.prune(features, names, keep=0.5, **OPTIONS)
    assert len(repr(result)) < 200
    assert repr(result).startswith("<PruneResult: 120 of 240 kept. 50.0 % removed; ")
    lines = result.summary().splitlines()
    assert lines[0].split(". ")[0] in repr(result)
    assert lines[-1] == result.certificate.outcome
    counted = [f"{name}: {(names[result.kept] == name).sum()} of {(names == name).sum()}" for name in np.unique(names)]
    assert ", ".join(counted) in result.summary()
    assert len(lines) < 15


def test_summaries_of_numbers_and_many_labels_stay_short(toy):
    features = toy[0]
    prices = leanset.prune(features, features @ np.arange(5.0) + 1, loss="squared", keep=0.5, **OPTIONS)
    assert "kept by label" not in prices.summary()
    many = leanset.prune(features, np.arange(240) % 12, keep=0.5, **OPTIONS)
    assert " and 2 more" in many.summary()
