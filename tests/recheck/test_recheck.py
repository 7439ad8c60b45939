import json

import numpy as np
import pytest

import leanset
from tests.faults.forge import bring_in_line
from tests.faults.honest import KINDS, rejected


@pytest.fixture
def saved(toy, tmp_path):
    leanset.prune(*toy[:2], fraction=0.4, validation=toy[2], l2=1e-2, out=tmp_path / "run", frontier=False, pinned=[4])
    return tmp_path / "run"


def failures(saved, toy):
    return [check.name for check in leanset.verify(saved, *toy[:2], validation=toy[2]) if not check.holds]


def tamper(saved, file, **changes):
    values = json.loads((saved / file).read_text())
    (saved / file).write_text(json.dumps(values | changes))
    bring_in_line(saved)


def test_an_honest_run_holds(saved, toy):
    checks = leanset.verify(saved, *toy[:2], validation=toy[2])
    assert [check.name for check in checks if not check.holds] == []
    assert {
        "data",
        "partition",
        "measured change",
        "Newton step",
        "validation loss gap",
        "gap within bound",
        "manifest",
        "pinned rows",
        "class balance",
    } <= {check.name for check in checks}


@pytest.mark.parametrize(
    ("key", "factor", "named"),
    [
        ("refit_change", 0.9, "measured change"),
        ("newton_change", 0.9, "Newton step"),
        ("head_norm", 1.1, "head norm"),
        ("random_refit_change_mean", 10.0, "random removals, mean"),
        ("influence_change", 0.5, "influence"),
        ("first_order_bound", 0.5, "first-order bound"),
        ("second_order_bound", 0.5, "second-order bound"),
        ("l2", 2.0, "l2"),
    ],
)
def test_a_touched_up_number_is_found(saved, toy, key, factor, named):
    value = json.loads((saved / "certificate.json").read_text())[key]
    tamper(saved, "certificate.json", **{key: factor * value})
    found = failures(saved, toy)
    assert named in found


def test_a_touched_up_gap_is_found(saved, toy):
    tamper(saved, "certificate.json", validation_loss_gap=-0.5)
    assert "validation loss gap" in failures(saved, toy)


def test_a_number_that_is_none_is_found_and_a_missing_one_is_named(saved, toy):
    tamper(saved, "certificate.json", refit_change=None)
    assert failures(saved, toy) == ["certificate"]
    (saved / "certificate.json").write_text('{"n": 240}')
    with pytest.raises(leanset.RunFolderError, match=r"certificate\.json: does not contain `inverse`, "):
        leanset.verify(saved, *toy[:2])


def test_rows_that_were_moved_are_found(saved, toy):
    kept, removed = ((saved / name).read_text().split() for name in ("kept.txt", "removed.txt"))
    (saved / "kept.txt").write_text("\n".join([*kept, removed[0]]))
    assert failures(saved, toy)[0] == "manifest"
    bring_in_line(saved)
    assert failures(saved, toy) == ["partition"]


def test_a_narrowed_interval_is_found(saved, toy):
    gap = json.loads((saved / "certificate.json").read_text())["validation_loss_gap"]
    tamper(saved, "certificate.json", validation_loss_gap_low=gap, validation_loss_gap_high=gap)
    assert failures(saved, toy) == ["validation loss gap low", "validation loss gap high"]


def test_a_moved_interval_is_found(saved, toy):
    stated = json.loads((saved / "certificate.json").read_text())
    moved = {f"validation_loss_gap_{end}": stated[f"validation_loss_gap_{end}"] - 0.01 for end in ("low", "high")}
    tamper(saved, "certificate.json", **moved)
    assert failures(saved, toy) == ["validation loss gap low", "validation loss gap high"]


@pytest.mark.parametrize(
    ("key", "change", "named"),
    [
        ("random_refit_change_mean", 1.05, "random removals, mean"),
        ("random_refit_change_mean", np.inf, "certificate"),
        ("random_refit_change_sd", 0.1, "random removals, sd"),
        ("random_validation_loss_gap", 1.5, "random validation loss gap"),
        ("random_training_loss_gap", 1.5, "random training loss gap"),
        ("random_validation_same_answers", 0.9, "random validation same answers"),
        ("loss_above_random", 2.0, "loss above random"),
        ("loss_above_random_high", 0.1, "loss above random, high"),
    ],
)
def test_what_is_said_of_random_removals_is_measured_on_the_same_draws(saved, toy, key, change, named):
    assert failures(saved, toy) == []
    value = json.loads((saved / "certificate.json").read_text())[key]
    tamper(saved, "certificate.json", **{key: change * value})
    assert failures(saved, toy) == [named]


@pytest.mark.parametrize("options", [{}, {"class_balance": "none"}, {"class_balance": 20}, {"pinned": [0, 1, 2]}])
@pytest.mark.parametrize("weights", [False, True])
def test_honest_runs_on_little_data_are_accepted(tmp_path, options, weights):
    """Random removals of few rows differ a lot from draw to draw, so they must be the same draws."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        features, labels = rng.normal(size=(150, 4)), rng.integers(0, 2, 150)
        run = tmp_path / str(seed)
        leanset.prune(
            *(features, labels),
            fraction=0.7,
            seed=seed,
            out=run,
            progress=False,
            weights=weights,
            frontier=False,
            **options,
        )
        assert [check.name for check in leanset.verify(run, features, labels) if not check.holds] == []


def test_a_class_balance_that_was_not_kept_is_found(saved, toy):
    tamper(saved, "settings.json", class_balance=60)
    assert "class balance" in failures(saved, toy)


def test_many_classes_of_few_examples_are_re_checked_in_finite_time(
    tmp_path,
):  # a fresh draw once looked for classes for ever
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 60
    features = rng.normal(size=(300, 4)) + 3 * rng.normal(size=(60, 4))[labels]
    leanset.prune(features, labels, fraction=0.5, l2=1e-2, out=tmp_path / "run", frontier=False)
    assert all(check.holds for check in leanset.verify(tmp_path / "run", features, labels))


def test_pinned_rows_do_not_make_an_honest_run_fail(toy, tmp_path):
    norms = leanset.prune(*toy[:2], count=1, l2=1e-2, frontier=False).influence_norm
    pinned = np.argsort(-norms)[:120]  # random removals under these pins change far less than free ones
    leanset.prune(*toy[:2], fraction=0.4, l2=1e-2, pinned=pinned, out=tmp_path / "run", frontier=False)
    assert [check.name for check in leanset.verify(tmp_path / "run", *toy[:2]) if not check.holds] == []


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


@pytest.mark.parametrize("seed", range(10_008, 10_008 + len(KINDS)))
def test_no_honest_run_is_rejected(seed, tmp_path):
    """A slice of `python -m tests.faults honest`."""
    found = rejected(seed, tmp_path)
    assert found is None or found[0] == []
