import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.summary import compared, summarise
from leanset.evaluate.words import verdicts
from leanset.judge import FULL, Comparison, Interval, as_dicts, in_seeds, verdict

BASE = "stratified-random"
SEEDS = {  # which seeds each method has finished
    BASE: (0, 1, 2, 3),
    "leanset": (0, 1, 2, 3),
    "el2n": (1, 2, 3, 4, 5),
    "ccs": (3, 7),
    "random": (8, 9),
}


def made_outcomes():
    rng = np.random.default_rng(4)
    rows = []
    for protocol in (EQUAL_EPOCHS, EQUAL_STEPS):
        for fraction in (0.4, 0.8):
            for method, seeds in SEEDS.items():
                level = 0.6 + 0.1 * (method == "leanset") - 0.2 * (fraction == 0.8)
                for seed in seeds:
                    rows.append(
                        {
                            "model": "lenet",
                            "protocol": protocol,
                            "fraction": fraction,
                            "method": method,
                            "seed": seed,
                            "accuracy": level + rng.normal(0, 0.02),
                            "seconds": rng.uniform(1, 2),
                            "selection_seconds": rng.uniform(0.1, 0.2),
                            "refit_change": rng.uniform(1, 2),
                            "random_refit_change_mean": rng.uniform(3, 4),
                        }
                    )
    whole = {"model": "lenet", "protocol": EQUAL_EPOCHS, "fraction": 0.0, "method": FULL, "refit_change": None}
    rows += [whole | {"seed": s, "accuracy": rng.uniform(0.7, 0.9), "seconds": 3.0 + s} for s in (0, 1, 2)]
    return rows


OUTCOMES = made_outcomes()
ROWS = summarise(OUTCOMES, BASE)


def cell(row, column="accuracy", method=None, **other):
    """The values of one row's jobs by seed, straight from the outcomes."""
    wanted = {k: getattr(row, k) for k in ("model", "protocol", "fraction", "method")} | other
    wanted |= {} if method is None else {"method": method}
    return {o["seed"]: o.get(column) for o in OUTCOMES if all(o[k] == v for k, v in wanted.items())}


def same(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-9, equal_nan=True)


def test_there_is_one_row_for_each_kind_of_job():
    kinds = {(o["model"], o["protocol"], o["fraction"], o["method"]) for o in OUTCOMES}
    assert len(ROWS) == len(kinds)
    assert {(r.model, r.protocol, r.fraction, r.method) for r in ROWS} == kinds
    assert summarise([], BASE) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method}-{row.fraction}-{row.protocol}")
def test_a_row_is_what_plain_numpy_says(row):
    mine = cell(row)
    values = np.array(list(mine.values()))
    half = (
        stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 2 else np.nan
    )
    assert row.seeds == len(values)
    same([row.accuracy, row.low, row.high], values.mean() + np.array([0, -half, half]))
    same(row.seconds, np.mean(list(cell(row, "seconds").values())))
    if row.method == FULL:
        assert math.isnan(row.below_random)
        assert math.isnan(row.choosing_seconds)
    else:
        choosing = min(cell(row, "selection_seconds").values())
        full = np.min(list(cell(row, "seconds", FULL, fraction=0.0, protocol=EQUAL_EPOCHS).values()))
        same([row.choosing_seconds, row.choosing_share], [choosing, choosing / full])
        change, random = cell(row, "refit_change"), cell(row, "random_refit_change_mean")
        same(row.below_random, np.mean([random[s] / change[s] for s in mine]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method}-{row.fraction}-{row.protocol}")
def test_differences_are_paired_over_the_common_seeds_only(row):
    mine, base = cell(row), cell(row, method=BASE)
    common = sorted(mine.keys() & base.keys())
    assert row.common_seeds == len(common)
    if not common:
        assert all(math.isnan(v) for v in (row.against_baseline, row.against_low, row.against_high, row.p_value))
    else:
        same(row.against_baseline, np.mean([mine[s] - base[s] for s in common]))
    if row.method == BASE:
        assert math.isnan(row.p_value)  # nothing is tested against itself
    elif len(common) > 2:
        test = stats.ttest_rel([mine[s] for s in common], [base[s] for s in common])
        same([row.p_value, row.against_low, row.against_high], [test.pvalue, *test.confidence_interval(0.95)])
    # On everything, equal steps are equal epochs.
    whole = cell(row, method=FULL, fraction=0.0, protocol=EQUAL_EPOCHS)
    common = mine.keys() & whole.keys()
    same(row.against_full, np.mean([mine[s] - whole[s] for s in common]) if common else np.nan)


def test_adjusted_p_values_are_holms_over_the_whole_table():
    tested = sorted((row for row in ROWS if not math.isnan(row.p_value)), key=lambda row: row.p_value)
    assert len(tested) == 8  # two methods with two or more common seeds, two fractions, two protocols
    largest = 0.0
    for nth, row in enumerate(tested):
        largest = max(largest, (len(tested) - nth) * row.p_value)
        same(row.p_adjusted, min(1.0, largest))
    assert all(math.isnan(row.p_adjusted) for row in ROWS if math.isnan(row.p_value))


def test_the_order_of_the_outcomes_does_not_matter():
    def as_set(rows):
        return {tuple(f"{v:.9g}" if isinstance(v, float) else v for v in row.values()) for row in as_dicts(rows)}

    assert as_set(summarise(OUTCOMES[::-1], BASE)) == as_set(ROWS)


def test_nothing_in_common_is_no_comparison():
    nothing = compared({0: {"accuracy": 0.5}}, {1: {"accuracy": 0.6}})
    assert nothing.difference.n == 0
    assert math.isnan(nothing.difference.mean)
    assert math.isnan(nothing.p_value)


def test_two_seeds_that_agree_are_no_interval_and_no_verdict():
    ours, theirs = ({seed: {"accuracy": level + seed / 100} for seed in range(3)} for level in (0.92, 0.9))
    two = compared({seed: ours[seed] for seed in (0, 1)}, theirs)
    assert (two.difference.n, two.difference.mean) == (2, pytest.approx(0.02))
    assert [math.isnan(value) for value in (two.difference.low, two.difference.high, two.p_value)] == [True] * 3
    assert verdict("leanset", "random", 0.4, two).endswith("+2.0 points, 2 seeds: no interval.")
    assert verdict("leanset", "random", 0.4, compared(ours, theirs)).startswith("leanset is better than random")


def test_there_is_a_verdict_for_each_comparison_and_it_counts_the_common_seeds():
    said = verdicts(ROWS, BASE, "chance")
    judged = [row for row in ROWS if row.method not in (BASE, FULL, "random")]  # `random` has no seed in common
    assert len(said) == len(judged)
    for line, row in zip(said, judged, strict=True):
        mine, base = cell(row), cell(row, method=BASE)
        comparison = compared(*({s: {"accuracy": a} for s, a in part.items()} for part in (mine, base)))
        words = verdict(row.method, "chance", row.fraction, comparison)
        assert line == f"lenet, {row.protocol.replace('-', ' ')}: {words}"
        seeds = len(mine.keys() & base.keys())
        assert (f"({seeds} seeds)" if seeds > 2 else f"{in_seeds(seeds)}: no interval") in line
        assert "nan" not in line


def test_a_method_that_is_better_is_called_so():
    [row] = [row for row in ROWS if (row.method, row.fraction, row.protocol) == ("leanset", 0.4, EQUAL_EPOCHS)]
    assert "leanset is better than chance at 40 % removed" in verdicts([row], BASE, "chance")[0]
    worse = replace(
        row,
        against_baseline=-row.against_baseline,
        against_low=-row.against_high,
        against_high=-row.against_low,
    )
    assert verdicts([worse], BASE, "chance") == [
        "lenet, equal epochs: "
        + verdict(
            "leanset",
            "chance",
            0.4,
            Comparison(Interval(worse.against_baseline, worse.against_low, worse.against_high, 4), row.p_value),
        )
    ]
    assert "leanset is worse than chance" in verdicts([worse], BASE, "chance")[0]


def test_two_losses_side_by_side_are_of_the_same_trainings():
    rng = np.random.default_rng(0)
    told = {"leanset": ((0, 1, 2), (1, 2)), BASE: ((0, 1, 2), (0, 2)), "el2n": ((0, 2), ()), "ccs": ((), ())}
    rows = [
        row
        | ({"loss": None} if row["seed"] not in first else {"loss": rng.random()})
        | ({"scaled_loss": rng.random()} if row["seed"] in both else {})
        for row in OUTCOMES
        if row["method"] in told
        for first, both in [told[row["method"]]]
    ]
    found = {row.method: row for row in summarise(rows, BASE) if (row.protocol, row.fraction) == (EQUAL_EPOCHS, 0.4)}
    known = {
        (row["method"], row["seed"]): row for row in rows if (row["protocol"], row["fraction"]) == (EQUAL_EPOCHS, 0.4)
    }

    def mean(method, what, seeds):
        return pytest.approx(np.mean([known[method, seed][what] for seed in seeds]))

    def difference(method, what, seeds):
        return pytest.approx(np.mean([known[method, seed][what] - known[BASE, seed][what] for seed in seeds]))

    ours = found["leanset"]
    assert (ours.loss, ours.scaled_loss, ours.loss_seeds) == (
        mean("leanset", "loss", (1, 2)),
        mean("leanset", "scaled_loss", (1, 2)),
        2,
    )
    assert (ours.loss_against_baseline, ours.scaled_against_baseline, ours.common_loss_seeds) == (
        difference("leanset", "loss", (2,)),
        difference("leanset", "scaled_loss", (2,)),
        1,
    )
    theirs = found["el2n"]
    assert (theirs.loss, theirs.loss_seeds, math.isnan(theirs.scaled_loss)) == (mean("el2n", "loss", (2,)), 1, True)
    assert (theirs.loss_against_baseline, theirs.common_loss_seeds) == (difference("el2n", "loss", (2,)), 1)
    for row in rows:  # the two now tell a scaled loss of no seed that both have
        if row["method"] == BASE and row["seed"] == 2:
            row.pop("scaled_loss")
    [apart] = [
        row
        for row in summarise(rows, BASE)
        if (row.protocol, row.fraction, row.method) == (EQUAL_EPOCHS, 0.4, "leanset")
    ]
    assert math.isnan(apart.scaled_against_baseline)
    assert (apart.loss_against_baseline, apart.common_loss_seeds) == (difference("leanset", "loss", (0, 1, 2)), 3)
    assert math.isnan(found["ccs"].loss)
    assert (found["ccs"].loss_seeds, found["ccs"].common_loss_seeds) == (0, 0)
