"""Touched-up run folders, all with a manifest that was brought in line; without that, every change is found by it."""

import contextlib
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leanset
from tests.faults.forge import bring_in_line, examined, runs, statistics
from tests.faults.forge import toy as network_toy


@pytest.fixture
def saved(toy, tmp_path):
    out = tmp_path / "run"
    leanset.prune(*toy[:2], fraction=0.4, validation=toy[2], l2=1e-2, out=out, frontier=False, pinned=[4, 7])
    return out


def found(saved, toy):
    return {check.name for check in leanset.verify(saved, *toy[:2], validation=toy[2]) if not check.holds}


def change_json(saved, file, **changes):
    path = saved / file
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_column(saved, name, change):
    table = pq.read_table(saved / "selection.parquet")
    values = np.array(table[name].to_pylist(), dtype=object)
    column = pa.array(list(change(values)), type=table[name].type)
    pq.write_table(table.set_column(table.column_names.index(name), name, column), saved / "selection.parquet")


def keys_of(saved, file):
    return json.loads((saved / file).read_text()).keys()


def value_of(saved, key):
    return json.loads((saved / "certificate.json").read_text())[key]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"random_refit_change_mean": float("inf")}, "certificate"),
        ({"influence_change": 1e-12, "inverse_residual": 1.0}, "inverse residual"),
        ({"influence_change": 1e-12, "inverse_residual": float("nan")}, "certificate"),
        ({"influence_change": 1e-12, "inverse_residual": 1.0, "inverse": "lissa"}, "inverse"),
        ({"method": "el2n"}, "method"),
        ({"seed": 7}, "seed"),
        ({"leanset_version": "9.9"}, "leanset version"),
        ({"validation_accuracy": 0.99}, "validation accuracy"),
        ({"validation_loss": 0.01}, "validation loss"),
        ({"validation_accuracy_change_low": -0.3}, "validation accuracy change low"),
        ({"random_validation_accuracy_change": -0.5}, "random validation accuracy change"),
        ({"suspects_among_kept": 0.0}, "suspects among the kept"),
        ({"refit_error_bound": 1.0}, "accuracy of the fits"),
        ({"weighted": True}, "weighted"),
        ({"start_head_distance": 0.1}, "start"),
    ],
)
def test_a_touched_up_certificate_is_found(saved, toy, changes, named):
    change_json(saved, "certificate.json", **changes)
    bring_in_line(saved)
    assert named in found(saved, toy)


@pytest.mark.parametrize(
    ("key", "factor", "named"),
    [
        ("random_refit_change_mean", 1.9, "random removals, mean"),
        ("refit_change", 0.999, "measured change"),
        ("newton_change", 0.99, "Newton step"),
        ("train_l2", 1.001, "l2 to train with"),
        ("validation_loss_gap_low", 1.01, "validation loss gap low"),
        ("effective_size", 1.01, "weights"),
    ],
)
def test_tolerances_are_relative_to_what_is_claimed(saved, toy, key, factor, named):
    change_json(saved, "certificate.json", **{key: factor * value_of(saved, key)})
    bring_in_line(saved)
    assert found(saved, toy) == {named}


@pytest.mark.parametrize("balance", ["whatever", "[green]holds[/green]", "", 0, 61])
def test_any_other_class_balance_is_found(saved, toy, balance):
    change_json(saved, "settings.json", class_balance=balance)
    bring_in_line(saved)
    assert "class balance" in found(saved, toy)


@pytest.mark.parametrize("budget", [{}, {"whatever": 0.4}, {"fraction": 1e308}, {"fraction": 0.4, "count": 96}])
def test_any_other_budget_is_found(saved, toy, budget):
    change_json(saved, "settings.json", budget=budget)
    bring_in_line(saved)
    assert "budget" in found(saved, toy)


@pytest.mark.parametrize("changes", [{"loss": "hinge"}, {"penalty": "none"}, {"l2": 1e305}, {"random_draws": 1}])
def test_what_no_run_can_have_is_told_in_one_line(saved, toy, changes):
    for file in ("settings.json", "certificate.json"):
        change_json(saved, file, **{key: value for key, value in changes.items() if key in keys_of(saved, file)})
    bring_in_line(saved)
    with contextlib.suppress(leanset.RunFolderError):
        assert found(saved, toy)


def test_deleted_pins_are_found(saved, toy):
    change_json(saved, "settings.json", pinned=[4])
    bring_in_line(saved)
    assert "pinned" in found(saved, toy)


@pytest.mark.parametrize(
    ("column", "named"),
    [
        ("label", "labels"),
        ("pinned", "pinned"),
        ("influence_norm", "influence_norm"),
        ("label_probability", "label_probability"),
        ("weight", "weights"),
        ("reason", "reasons"),
        ("score", "scores"),
        ("row", "rows"),
    ],
)
def test_a_touched_up_column_is_found(saved, toy, column, named):
    change_column(saved, column, lambda values: [_other(values[0]), *values[1:]])
    bring_in_line(saved)
    assert named in found(saved, toy)


def _other(value):
    if isinstance(value, bool):
        return not value
    return f"{value}x" if isinstance(value, str) else 0.5 if value != value else value + 1


def test_a_swap_of_two_quiet_rows_in_all_lists_is_found(saved, toy):
    kept, removed = ([int(row) for row in (saved / name).read_text().split()] for name in ("kept.txt", "removed.txt"))
    norms = np.array(pq.read_table(saved / "selection.parquet")["influence_norm"])
    quiet = min(kept, key=norms.__getitem__)
    other = min((row for row in removed if toy[1][row] == toy[1][quiet]), key=norms.__getitem__)
    for name, gone, come in (("kept.txt", quiet, other), ("removed.txt", other, quiet)):
        rows = sorted({*(kept if name == "kept.txt" else removed)} - {gone} | {come})
        (saved / name).write_text("".join(f"{row}\n" for row in rows))

    def swapped(values):
        values[quiet], values[other] = values[other], values[quiet]
        return values

    for column in ("kept", "weight"):
        change_column(saved, column, swapped)
    bring_in_line(saved)
    assert "measured change" in found(saved, toy)


def turn_round(file):
    np.save(file, np.load(file)[::-1])


@pytest.mark.parametrize(
    ("file", "options", "named"),
    [
        ("head", {}, "head digest"),
        ("dynamics-0-margin", {}, "recorded digest"),
        ("logits", {"method": "el2n"}, "recorded digest"),
        ("features", {}, "data"),
        ("labels", {}, "data"),
    ],
)
def test_a_touched_up_network_is_found(tmp_path, file, options, named):
    run, store = tmp_path / "run", tmp_path / "run" / "network" / "head"  # where a run on images has it
    given = statistics(*network_toy())
    given = replace(given, dynamics=() if options else given.dynamics)
    given.save(store)
    leanset.prune(f"head:{store}", fraction=0.4, frontier=False, out=run, **options)
    assert all(check.holds for check in leanset.verify(run))
    assert all(check.holds for check in leanset.verify(run, given))
    turn_round(store / f"{file}.npy")
    assert "manifest" in {check.name for check in leanset.verify(run) if not check.holds}
    bring_in_line(run)
    assert named in {check.name for check in leanset.verify(run) if not check.holds}


def test_a_list_of_dropped_rows_in_another_order_is_found(toy, tmp_path):
    run = tmp_path / "run"
    result = leanset.prune(*toy[:2], fraction=0.2, suspects="drop", l2=1e-2, out=run, frontier=False)
    rows = (run / "dropped.txt").read_text().split()
    assert len(rows) > 1
    assert len(result.kept) + len(result.removed) == len(toy[1]) - len(rows)
    for changed in (rows[::-1], [rows[0], *rows]):
        (run / "dropped.txt").write_text("\n".join(changed))
        bring_in_line(run)
        assert {check.name for check in leanset.verify(run, *toy[:2]) if not check.holds} == {"dropped rows"}


def test_a_run_of_an_earlier_version_is_told_in_one_line(saved, toy):
    """They have no manifest, and some fields are younger than they are."""
    (saved / "manifest.json").unlink()
    missing = [check for check in leanset.verify(saved, *toy[:2], validation=toy[2]) if not check.holds]
    assert [check.name for check in missing] == ["manifest"]
    assert "an earlier leanset wrote none" in missing[0].detail
    for file, field in (("certificate.json", "sample_weighted"), ("settings.json", "weight_bounds")):
        path = saved / file
        before = path.read_text()
        path.write_text(json.dumps({key: value for key, value in json.loads(before).items() if key != field}))
        with pytest.raises(
            leanset.RunFolderError, match=f"{file}: does not contain `{field}`; is it by another version"
        ):
            leanset.verify(saved, *toy[:2], validation=toy[2])
        path.write_text(before)


def test_every_file_is_in_the_manifest_and_added_ones_are_found(saved, toy):
    named = json.loads((saved / "manifest.json").read_text())["sha256"]
    assert set(named) | {"manifest.json"} == {path.name for path in saved.iterdir()}
    (saved / "dropped.txt").write_text("")
    assert "manifest" in found(saved, toy)
    (saved / "dropped.txt").unlink()
    (saved / "manifest.json").unlink()
    assert "manifest" in found(saved, toy)


def test_a_slice_of_all_changes_is_noticed_or_named(tmp_path):
    """A slice of `python -m tests.faults forge`."""
    for name, verify in runs(tmp_path):
        tried, missed, _ = examined(tmp_path / name, verify, every=60)
        assert tried > 5
        assert missed == []
