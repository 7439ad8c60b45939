import dataclasses
import json

import numpy as np
import pytest

import leanset
from leanset import InputError, RunFolderError
from leanset.head import HeadStatistics, store_in
from leanset.training import Dynamics


def statistics(toy, **more):
    features, labels, validation = toy
    return HeadStatistics(
        features=features.astype(np.float32), labels=labels, classes=("a", "b", "c"), validation=validation, **more
    )


def dynamics(n, epochs=4, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.random((3, epochs, n)).astype(np.float32)
    return Dynamics(values[0] > 0.5, *values)


def test_everything_comes_back_from_disk(toy, tmp_path):
    n = len(toy[1])
    stats = statistics(
        toy,
        logits=np.zeros((n, 3), np.float32),
        head=np.ones((3, 6)),
        weight_decay=5e-4,
        rows=np.arange(n) * 2,
        dynamics=(dynamics(n), dynamics(n, seed=1)),
        gradient_norm=np.arange(n, dtype=float),
    )
    stats.save(tmp_path / "head")
    again = HeadStatistics.load(tmp_path / "head")
    again.save(tmp_path / "head")  # onto the files it is mapped from
    again = HeadStatistics.load(tmp_path / "head").in_memory()
    for name in ("features", "labels", "logits", "head", "rows", "gradient_norm"):
        np.testing.assert_array_equal(getattr(again, name), getattr(stats, name))
    assert (again.classes, again.weight_decay) == (stats.classes, stats.weight_decay)
    np.testing.assert_array_equal(again.validation[0], stats.validation[0])
    for one, two in zip(again.dynamics, stats.dynamics, strict=True):
        np.testing.assert_array_equal(one.margin, two.margin)


def test_nothing_of_an_earlier_store_is_left_in_a_new_one(toy, tmp_path):
    full = statistics(toy, gradient_norm=np.ones(len(toy[1])), dynamics=(dynamics(len(toy[1])),))
    full.save(tmp_path)
    dataclasses.replace(full, validation=None, gradient_norm=None, dynamics=()).save(tmp_path)
    again = HeadStatistics.load(tmp_path)
    assert again.validation is None
    assert again.gradient_norm is None
    assert again.dynamics == ()


def test_arrays_mapped_from_a_store_can_be_saved_in_another_order(toy, tmp_path):
    n = len(toy[1])
    statistics(toy, dynamics=(dynamics(n), dynamics(n, seed=1))).save(tmp_path)
    stored = HeadStatistics.load(tmp_path)
    stored.with_evidence(dynamics=stored.dynamics[::-1]).save(tmp_path)
    for record, seed in zip(HeadStatistics.load(tmp_path).dynamics, (1, 0), strict=True):
        np.testing.assert_array_equal(record.margin, dynamics(n, seed=seed).margin)
    part = dataclasses.replace(stored, features=stored.features[:90], labels=stored.labels[:90], dynamics=())
    part.save(tmp_path)
    assert len(HeadStatistics.load(tmp_path).features) == 90
    assert len(stored.features) == n  # who had the old file open keeps it


def test_a_store_that_is_being_rewritten_is_not_complete(toy, tmp_path):
    statistics(toy).save(tmp_path)
    store_in(tmp_path)
    with pytest.raises(RunFolderError, match="about"):
        HeadStatistics.load(tmp_path)


def test_a_folder_of_something_else_is_not_written_into(toy, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunFolderError, match=r"thesis\.tex"):
        statistics(toy).save(tmp_path)


def test_a_saved_run_is_verified_against_the_statistics_it_was_made_from(toy, tmp_path):
    stats = statistics(toy, weight_decay=0.01)
    leanset.prune(stats, count=60, frontier=False, out=tmp_path / "run")
    assert all(check.holds for check in leanset.verify(tmp_path / "run", stats))


def test_an_incomplete_folder_is_named(toy, tmp_path):
    statistics(toy).save(tmp_path / "head")
    (tmp_path / "head" / "labels.npy").unlink()
    with pytest.raises(RunFolderError, match=r"labels\.npy"):
        HeadStatistics.load(tmp_path / "head")
    with pytest.raises(RunFolderError, match=r"about\.json"):
        HeadStatistics.load(tmp_path)


def test_a_networks_statistics_are_pruned_as_the_network_saw_them(toy):
    start = np.random.default_rng(0).normal(size=(3, 6))
    one = leanset.prune(statistics(toy, head=start, weight_decay=0.01), count=60, frontier=False)
    features, labels, validation = toy
    two = leanset.prune(
        features.astype(np.float32),
        labels,
        validation=validation,
        count=60,
        frontier=False,
        head=start,
        l2=0.01,
        penalty="mean",
        standardize=False,
    )
    np.testing.assert_array_equal(one.kept, two.kept)
    assert one.certificate.l2 == 0.01
    assert one.certificate.start_head_distance == pytest.approx(two.certificate.start_head_distance)
    assert any("The given head was" in note and "from the minimum" in note for note in one.certificate.notes)


def test_the_polished_head_does_not_depend_on_the_networks_head(toy):
    near, far = (statistics(toy, head=np.full((3, 6), value), weight_decay=0.01) for value in (0.1, 2.0))
    one, two = (leanset.prune(stats, count=60, frontier=False).certificate for stats in (near, far))
    assert one.head_norm == pytest.approx(two.head_norm, rel=1e-6)
    assert one.start_head_distance < two.start_head_distance


def test_source_row_numbers_are_kept_when_rows_were_left_out(toy, tmp_path):
    n = len(toy[1])
    rows = np.delete(np.arange(n + 3), [0, 7, 100])
    stats = statistics(toy, rows=rows)
    plain = leanset.prune(statistics(toy), count=60, pinned=[4], frontier=False)
    result = leanset.prune(stats, count=60, pinned=[int(rows[4])], frontier=False, out=tmp_path / "run")
    np.testing.assert_array_equal(result.kept, rows[plain.kept])
    assert not {0, 7, 100} & {*result.kept.tolist(), *result.removed.tolist()}
    checks = leanset.verify(tmp_path / "run", stats)
    assert [check.name for check in checks if not check.holds] == []
    np.testing.assert_array_equal(leanset.load(tmp_path / "run").rows, rows)
    with pytest.raises(InputError, match="first: 7"):
        leanset.prune(stats, count=60, pinned=[7])


def test_what_does_not_fit_is_refused(toy):
    with pytest.raises(InputError, match="5 examples, not for 240"):
        statistics(toy, dynamics=(dynamics(5),))
    with pytest.raises(InputError, match=r"`gradient_norm` must be \(240,\) numbers"):
        statistics(toy, gradient_norm=np.zeros(3))
    with pytest.raises(InputError, match="contains its own labels"):
        leanset.prune(statistics(toy), toy[1], count=5)
    with pytest.raises(InputError, match="`labels` are missing"):
        leanset.prune(toy[0], count=5)
    with pytest.raises(InputError, match="4 classes, but the labels have 3"):
        leanset.prune(dataclasses.replace(statistics(toy), classes=("a", "b", "c", "d")), count=5)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rows", lambda rows: np.zeros_like(rows)),
        ("rows", lambda rows: rows.astype(np.float64)),
        ("labels", lambda labels: labels.astype(str)),
        ("labels", lambda labels: labels[:, None]),
        ("features", lambda features: features[:-1]),
        ("features", lambda features: features.astype("M8[s]")),
        ("head", lambda head: head[:, :-1]),
        ("logits", lambda logits: logits.astype(bool)),
        ("dynamics-0-correct", lambda correct: correct.astype(np.float32)),
        ("val_labels", lambda labels: None),
    ],
)
def test_a_store_with_arrays_of_another_kind_is_refused(toy, tmp_path, name, change):
    stats = dataclasses.replace(
        statistics(toy, dynamics=(dynamics(240),), rows=np.arange(240) * 2),
        head=np.zeros((3, 6)),
        logits=np.zeros((240, 3)),
    )
    stats.save(tmp_path)
    changed = change(np.load(tmp_path / f"{name}.npy"))
    if changed is None:
        about = json.loads((tmp_path / "about.json").read_text())
        about["arrays"].remove(name)
        (tmp_path / "about.json").write_text(json.dumps(about))
    else:
        np.save(tmp_path / f"{name}.npy", changed)
    with pytest.raises(RunFolderError):
        HeadStatistics.load(tmp_path)


@pytest.mark.parametrize(
    "about", [{"classes": 3}, {"classes": [1, 2]}, {"weight_decay": "x"}, {"arrays": None}], ids=str
)
def test_a_store_that_says_odd_things_of_itself_is_refused(toy, tmp_path, about):
    statistics(toy).save(tmp_path)
    said = json.loads((tmp_path / "about.json").read_text())
    (tmp_path / "about.json").write_text(json.dumps(said | about))
    with pytest.raises(RunFolderError, match=next(iter(about))):
        HeadStatistics.load(tmp_path)
