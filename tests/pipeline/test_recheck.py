import json

import pytest

import leanset


@pytest.fixture
def saved(toy, tmp_path):
    leanset.prune(*toy[:2], fraction=0.4, validation=toy[2], l2=1e-2, out=tmp_path / "run", frontier=False, pinned=[4])
    return tmp_path / "run"


def failures(saved, toy):
    return [check.name for check in leanset.verify(saved, *toy[:2], validation=toy[2]) if not check.holds]


def tamper(saved, file, **changes):
    values = json.loads((saved / file).read_text())
    (saved / file).write_text(json.dumps(values | changes))


def test_an_honest_run_holds(saved, toy):
    checks = leanset.verify(saved, *toy[:2], validation=toy[2])
    assert [check.name for check in checks if not check.holds] == []
    assert {"data", "partition", "measured change", "Newton step", "loss gap", "bound", "pinned rows"} <= {
        check.name for check in checks
    }


@pytest.mark.parametrize(
    ("key", "factor", "named"),
    [
        ("refit_change", 0.9, "measured change"),
        ("newton_change", 0.9, "Newton step"),
        ("head_norm", 1.1, "head norm"),
        ("random_refit_change_mean", 10.0, "random removals"),
        ("second_order_bound", 0.0, None),
    ],
)
def test_a_touched_up_number_is_found(saved, toy, key, factor, named):
    value = json.loads((saved / "certificate.json").read_text())[key]
    tamper(saved, "certificate.json", **{key: factor * value})
    found = failures(saved, toy)
    assert (named in found) if named else set(found) <= {"bound"}


def test_a_touched_up_gap_is_found(saved, toy):
    tamper(saved, "certificate.json", validation_loss_gap=-0.5)
    assert "loss gap" in failures(saved, toy)


def test_a_number_that_is_none_is_found_and_a_missing_one_is_named(saved, toy):
    tamper(saved, "certificate.json", refit_change=None)
    assert failures(saved, toy) == ["certificate"]
    (saved / "certificate.json").write_text('{"n": 240}')
    with pytest.raises(leanset.RunFolderError, match=r"certificate\.json: lacks `removed`, "):
        leanset.verify(saved, *toy[:2])


def test_rows_that_were_moved_are_found(saved, toy):
    kept, removed = ((saved / name).read_text().split() for name in ("kept.txt", "removed.txt"))
    (saved / "kept.txt").write_text("\n".join([*kept, removed[0]]))
    found = failures(saved, toy)
    assert {"files", "partition"} <= set(found)


def test_other_data_is_found(saved, toy):
    assert "data" in failures(saved, (toy[0] * 2, toy[1], toy[2]))


def test_a_removed_pin_is_found(saved, toy):
    first = int((saved / "removed.txt").read_text().split()[0])
    tamper(saved, "settings.json", pinned=[first])
    assert "pinned rows" in failures(saved, toy)


@pytest.mark.parametrize("budget", [{"fraction": 0.5}, {"count": 95}, {"epsilon": 1e-6}, {"relative_epsilon": 1e-9}])
def test_a_budget_that_was_not_kept_is_found(saved, toy, budget):
    tamper(saved, "settings.json", budget=budget)
    assert "budget" in failures(saved, toy)
