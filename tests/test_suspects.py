"""Labels that are probably wrong, found by heads that did not see them."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import leanset
from leanset import InputError

QUICK = {"fraction": 0.3, "l2": 1e-2, "frontier": False}


@pytest.fixture(scope="module")
def spoilt():
    features, labels = load_digits(return_X_y=True)
    features, labels, rng = features[:800], labels[:800], np.random.default_rng(0)
    wrong = rng.random(800) < 0.08
    return features, np.where(wrong, (labels + rng.integers(1, 10, 800)) % 10, labels), wrong


def test_most_wrong_labels_are_suspect_and_few_others(spoilt):
    features, labels, wrong = spoilt
    result = leanset.prune(features, labels, **QUICK)
    assert result.suspect[wrong].mean() > 0.6
    assert result.suspect[~wrong].mean() < 0.03
    certificate, kept = result.certificate, np.isin(np.arange(800), result.kept)
    assert certificate.suspects_among_kept == result.suspect[kept].mean()
    assert certificate.suspects_among_removed == result.suspect[~kept].mean()
    assert "LS111" in [finding.code for finding in certificate.findings]


def test_dropped_examples_are_gone_before_anything_else(spoilt, tmp_path):
    features, labels, wrong = spoilt
    marked = leanset.prune(features, labels, **QUICK)
    result = leanset.prune(features, labels, suspects="drop", out=tmp_path / "run", **QUICK)
    assert (result.dropped == np.flatnonzero(marked.suspect)).all()
    everything = np.concatenate([result.kept, result.removed, result.dropped])
    assert (np.sort(everything) == np.arange(800)).all()
    trusted = np.setdiff1d(np.arange(800), result.dropped)
    same = leanset.prune(features[trusted], labels[trusted], **QUICK)
    assert (trusted[same.kept] == result.kept).all()
    assert result.certificate.n == len(trusted)
    checks = leanset.verify(tmp_path / "run", features, labels)
    assert [check.name for check in checks if not check.holds] == []
    again = leanset.load(tmp_path / "run")
    assert (again.dropped == result.dropped).all()
    assert wrong[result.dropped].mean() > 0.8


def test_pinned_examples_and_whole_classes_are_not_dropped(spoilt):
    features, labels, _ = spoilt
    suspect = np.flatnonzero(leanset.prune(features, labels, **QUICK).suspect)
    result = leanset.prune(features, labels, suspects="drop", pinned=suspect[:3], **QUICK)
    assert np.isin(suspect[:3], result.kept).all()
    lonely = labels.copy()
    lonely[suspect[0]] = 10  # a class of one, which no other head can know
    kept = leanset.prune(features, lonely, suspects="drop", **QUICK)
    assert 10 in lonely[kept.kept]


def test_nobody_looks_if_told_to_ignore(spoilt):
    features, labels, _ = spoilt
    result = leanset.prune(features, labels, suspects="ignore", **QUICK)
    assert result.certificate.suspects_among_kept is None
    assert not result.suspect.any()


def test_numbers_cannot_be_suspect(toy):
    features = toy[0]
    result = leanset.prune(features, features @ np.arange(1.0, features.shape[1] + 1), loss="squared", **QUICK)
    assert result.certificate.suspects_among_kept is None
    with pytest.raises(InputError, match=r"`suspects='drop'` needs classes"):
        leanset.prune(features, features[:, 0], loss="squared", suspects="drop", **QUICK)
