"""Strata of difficulty: which rows go so that every difficulty is left."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from leanset.scores.strata import covering_order, stratum_budgets, stratum_of


@st.composite
def cases(draw):
    values = st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(-100, 100))
    difficulty = np.array(draw(st.lists(values, min_size=1, max_size=40)))
    return (
        difficulty,
        draw(st.integers(0, len(difficulty))),
        draw(st.sampled_from([0.0, 0.1, 0.35, 0.8])),
        draw(st.integers(1, 7)),
        draw(st.integers(0, 99)),
    )


def ordered(case):
    difficulty, count, cut, strata, seed = case
    return covering_order(difficulty, count, cut, strata, np.random.default_rng(seed))


def with_edge_cases(test):
    for n in (1, 6):
        for count in (0, n):
            test = example((np.ones(n), count, 0.35, 3, 0))(test)
    return given(cases())(test)


@with_edge_cases
def test_every_row_is_named_once(case):
    order, stratum = ordered(case)
    assert sorted(order.tolist()) == list(range(len(case[0])))
    assert stratum.shape == case[0].shape


@with_edge_cases
def test_what_stays_fills_the_budget_of_each_stratum(case):
    difficulty, count, _, strata, _ = case
    order, stratum = ordered(case)
    sizes = np.bincount(stratum, minlength=strata + 1)[:strata]
    left = np.bincount(stratum[order[count:]], minlength=strata + 1)
    assert left[strata] == 0  # the last holds what was cut
    assert left[:strata].tolist() == stratum_budgets(sizes, len(difficulty) - count).tolist()


@with_edge_cases
def test_the_hardest_go_first_and_are_a_stratum_of_their_own(case):
    difficulty, count, cut, strata, _ = case
    order, stratum = ordered(case)
    going = min(count, int(cut * len(difficulty) + 1e-9))
    assert (stratum == strata).sum() == going
    assert (stratum[order[:going]] == strata).all()
    hardest = difficulty[order[:going]]
    assert (np.diff(hardest) <= 0).all()
    assert hardest.min(initial=np.inf) >= difficulty[order[going:]].max(initial=-np.inf)


@with_edge_cases
def test_the_others_are_in_strata_of_equal_width(case):
    difficulty, _, _, strata, _ = case
    order, stratum = ordered(case)
    rest = order[stratum[order] < strata]
    np.testing.assert_array_equal(stratum[rest], stratum_of(difficulty[rest], strata))
    if len(rest):
        low, width = difficulty[rest].min(), np.ptp(difficulty[rest]) / strata
        slack = 1e-9 * (1 + np.abs(difficulty[rest]).max())
        assert (difficulty[rest] >= low + stratum[rest] * width - slack).all()
        assert (difficulty[rest] <= low + (stratum[rest] + 1) * width + slack).all()


def test_no_more_are_cut_than_have_to_go():
    order, _ = covering_order(np.arange(10.0), 3, 0.9, 4, np.random.default_rng(0))
    assert order[:3].tolist() == [9, 8, 7]


def test_within_a_stratum_every_row_is_as_likely_to_stay():
    difficulty, draws = np.repeat([0.0, 1.0], [30, 10]), 400
    stays = np.zeros(40)
    for seed in range(draws):
        order, _ = covering_order(difficulty, 20, 0.0, 2, np.random.default_rng(seed))
        stays[order[20:]] += 1
    assert (stays[30:] == draws).all()  # the small stratum stays whole
    share = 10 / 30
    assert (np.abs(stays[:30] - share * draws) < 5 * np.sqrt(draws * share * (1 - share))).all()


def test_no_rows_at_all():
    order, stratum = covering_order(np.zeros(0), 0, 0.5, 3, np.random.default_rng(0))
    assert len(order) == len(stratum) == 0
