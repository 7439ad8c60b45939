"""Which examples stay by the rule of coverage."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanset import Coverage, InputError
from leanset.problem import Constraints
from leanset.scores import AUM, DynUnc, kept_shares, share_wrong
from leanset.select.coverage import LearningRecord
from tests.problem.test_problem import rules_and_count
from tests.scores.problems import make_evidence


@given(rules_and_count(), st.integers(1, 6), st.sampled_from([0.0, 0.3]))
def test_a_start_keeps_every_rule(case, strata, cut):
    rules, count, seed = case
    rng = np.random.default_rng(seed)
    difficulty = rng.integers(0, 4, len(rules.groups)).astype(np.float64)
    record = LearningRecord(difficulty, rng.random(len(difficulty)), 0.2, 9)
    removed, cells = Coverage(strata=strata, cut=cut).start(record, rules, count, rng)
    assert removed.sum() == count
    assert rules.violations(removed) == []  # pinned rows, least kept, and shares of the classes
    assert cells.shape == rules.groups.shape
    if rules.proportional:
        gone = np.bincount(rules.groups[removed], minlength=rules.n_groups)
        assert gone.tolist() == rules.quotas(count).tolist()
        for cell in np.unique(cells[rules.free]):
            assert len(set(rules.groups[rules.free[cells[rules.free] == cell]])) == 1


@given(st.integers(0, 99), st.integers(0, 100), st.sampled_from([0.0, 0.2]), st.sampled_from([0.0, 3.0]))
def test_each_class_keeps_what_the_formula_says(seed, percent, cut, power):
    """Of any stretch of difficulties as many as the probabilities add up to, rounded up or down."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1, 2], [40, 20, 8]))
    rules = Constraints(labels, 3, np.zeros(68, bool), proportional=True)
    count = percent * rules.most // 100
    difficulty, swing = rng.normal(size=68), rng.uniform(0.1, 1, 68)
    coverage = Coverage(centre=0.3, spread=0.5, swing=power, cut=cut)
    record = LearningRecord(difficulty, swing, 0.2, 9)
    removed, _ = coverage.start(record, rules, count, rng)
    told = coverage.probabilities(record, rules, count, rng)
    for c, quota in enumerate(rules.quotas(count)):
        members = np.flatnonzero(labels == c)[np.argsort(difficulty[labels == c])]
        rest = members[: len(members) - min(quota, int(cut * len(members) + 1e-9))]
        assert removed[members[len(rest) :]].all()
        u = (np.arange(len(rest)) + 0.5) / len(rest)
        likely = kept_shares(np.log(np.exp(-(((u - 0.3) / 0.5) ** 2) / 2) * swing[rest] ** power), len(members) - quota)
        np.testing.assert_allclose(told[members], np.concatenate([likely, np.zeros(len(members) - len(rest))]))
        assert (np.abs(np.cumsum(~removed[rest]) - np.cumsum(likely)) < 1 + 1e-6).all()


def of_thousand(swing=1.0, wrong=0.2, later_epochs=9):
    """A record of a thousand examples, the easiest first."""
    return LearningRecord(np.arange(1000.0), np.broadcast_to(swing, 1000), wrong, later_epochs)


@pytest.mark.parametrize(("epochs", "runs"), [(1, 1), (2, 5), (5, 2), (12, 1)])
def test_a_record_is_what_the_scores_say_and_each_run_has_a_first_epoch(epochs, runs):
    evidence = make_evidence(3, epochs=epochs, runs=1)
    evidence = dataclasses.replace(evidence, dynamics=evidence.dynamics * runs)
    record = LearningRecord.of(evidence)
    np.testing.assert_array_equal(record.difficulty, AUM().difficulty(evidence))
    np.testing.assert_array_equal(record.swing, DynUnc().scores(evidence))
    assert (record.wrong, record.later_epochs) == (share_wrong(evidence), runs * (epochs - 1))


@pytest.mark.parametrize("proportional", [True, False])
def test_what_is_pinned_stays_for_certain_and_as_many_stay_as_are_asked_for(proportional):
    groups = np.arange(1000) % 2
    pinned = np.arange(1000) % 7 == 0
    rules = Constraints(groups, 2, pinned, proportional=proportional)
    likely = Coverage().probabilities(of_thousand(), rules, 600, np.random.default_rng(0))
    assert (likely[pinned] == 1).all()
    assert likely.sum() == pytest.approx(400)
    assert ((likely >= 0) & (likely <= 1)).all()


def mean_kept(share, wrong):
    """The mean place of what stays by the rule, from 0 for the easiest of a class to 1 for the hardest."""
    rules = Constraints(np.zeros(1000, int), 1, np.zeros(1000, bool), proportional=True)
    rng = np.random.default_rng(0)
    removed, _ = Coverage().start(of_thousand(wrong=wrong), rules, round(1000 * share), rng)
    return np.flatnonzero(~removed).mean() / 999


@pytest.mark.parametrize(
    ("share", "wrong", "harder"),
    [
        (0.2, 0.18, True),
        (0.4, 0.18, True),
        (0.8, 0.18, True),
        (0.9, 0.18, False),
        (0.95, 0.18, False),
        (0.8, 0.4, False),  # a network that learns less, or wrong labels
        (0.95, 0.0, True),  # nothing was ever wrong
    ],
)
def test_easy_ones_go_while_there_are_enough_and_hard_ones_when_there_are_few(share, wrong, harder):
    assert (mean_kept(share, wrong) > 0.5) == harder


@given(st.floats(0.05, 0.9), st.floats(1.0, 4.0), st.floats(0.02, 0.2))
def test_as_much_room_gives_the_same_weights_and_more_room_harder_examples(removed, times, wrong):
    """Half as many of data on which half as many answers are wrong are as much room."""
    swing, rows = np.random.default_rng(0).uniform(0.1, 1, 1000), np.arange(50)
    left = (1 - removed) / times
    weights = Coverage().log_weights(of_thousand(swing, wrong), rows, removed)
    fewer = Coverage().log_weights(of_thousand(swing, wrong / times), rows, 1 - left)
    np.testing.assert_allclose(fewer, weights, atol=1e-9)
    assert mean_kept(removed, wrong) >= mean_kept(removed, wrong * times) - 0.01


@pytest.mark.parametrize(("share", "times"), [(0.3, 1.2), (0.8, 2), (0.95, 2)])
def test_what_swings_stays(share, times):
    rules = Constraints(np.zeros(1000, int), 1, np.zeros(1000, bool), proportional=True)
    swing = np.tile([0.1, 0.3], 500)
    removed, _ = Coverage().start(of_thousand(swing, 0.18), rules, round(1000 * share), np.random.default_rng(0))
    assert (~removed)[1::2].sum() > times * (~removed)[::2].sum()


@given(st.integers(0, 30), st.floats(0.2, 0.95))
def test_swings_that_few_epochs_saw_count_less(later, removed):
    """An example that swings e times as much is e^power times as likely; the power grows with the later epochs, up to nine."""
    swing, rows = np.exp(np.arange(1000.0) / 1000), np.arange(1000)
    flat = Coverage(swing=0.0).log_weights(of_thousand(swing), rows, removed)
    sure = Coverage().log_weights(of_thousand(swing), rows, removed) - flat
    told = Coverage().log_weights(of_thousand(swing, later_epochs=later), rows, removed) - flat
    np.testing.assert_allclose(told, sure * min(later, 9) / 9, atol=1e-9)
    own = Coverage(swing=3.0).log_weights(of_thousand(swing, later_epochs=later), rows, removed) - flat
    np.testing.assert_allclose(own, 3 * rows / 1000, atol=1e-9)


@pytest.mark.parametrize(("suspect", "cut"), [(0.0, 0.0), (0.15, 0.0), (0.25, 0.1), (0.6, 0.4)])
def test_many_suspect_labels_cut_more_if_wished_but_not_more_than_goes(suspect, cut):
    rules = Constraints(np.zeros(1000, int), 1, np.zeros(1000, bool), proportional=True)
    likely = Coverage(centre=2.0, suspects=True)  # the hardest would stay
    removed, _ = likely.start(of_thousand(), rules, 400, np.random.default_rng(0), suspect)
    assert removed[1000 - round(1000 * cut) :].all()
    assert not removed[999 - round(1000 * cut)]
    unasked = Coverage(centre=2.0)
    removed, _ = unasked.start(of_thousand(), rules, 400, np.random.default_rng(0), suspect)
    assert not removed[999]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strata": 0}, r"`Coverage\(strata=0\)`"),
        ({"strata": True}, r"`Coverage\(strata=True\)`"),
        ({"strata": 2.5}, r"`Coverage\(strata=2.5\)` must be a whole number"),
        ({"cut": 1.0}, r"`Coverage\(cut=1.0\)` must lie in 0 <= cut < 1"),
        ({"centre": float("inf")}, r"`Coverage\(centre=inf\)` must be a finite number"),
        ({"spread": 0.0}, r"`Coverage\(spread=0.0\)` must be a positive number"),
        ({"swing": float("nan")}, r"`Coverage\(swing=nan\)`"),
        ({"cut": -0.1}, r"`Coverage\(cut=-0.1\)`"),
        ({"cut": float("nan")}, r"`Coverage\(cut=nan\)`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Coverage(**options)
