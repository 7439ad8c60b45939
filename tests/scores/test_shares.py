"""Budgets of classes and of strata."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanset import InputError
from leanset._arrays import rounded_shares
from leanset.problem import Constraints
from leanset.scores import AUM, CCS, Evidence, GraNd, Herding, Moderate, StratifiedRandom
from leanset.scores.strata import stratum_budgets
from tests.scores.problems import make_evidence

sizes_and_share = st.tuples(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.floats(0, 1))


def largest_remainder(sizes, count):
    exact = [size * count / sum(sizes) for size in sizes]
    given_out = [int(size * count // sum(sizes)) for size in sizes]
    order = sorted(range(len(sizes)), key=lambda c: (-(sizes[c] * count % sum(sizes)), c))
    for c in order[: count - sum(given_out)]:
        given_out[c] += 1
    assert all(abs(got - want) < 1 for got, want in zip(given_out, exact, strict=True))
    return given_out


def budgets_of_the_paper(sizes, budget):
    """Algorithm 1 of Zheng et al., as a loop over the strata that are left."""
    left, answer = dict(enumerate(sizes)), {}
    while left:
        smallest = min(left, key=lambda s: (left[s], s))
        answer[smallest] = min(left[smallest], budget // len(left))
        budget -= answer[smallest]
        del left[smallest]
    return [answer[s] for s in range(len(sizes))]


@given(sizes_and_share)
def test_quotas_are_by_largest_remainder(case):
    sizes, share = np.array(case[0]), case[1]
    count = int(share * sizes.sum())
    assert rounded_shares(sizes * count / sizes.sum(), count).tolist() == largest_remainder(case[0], count)


@pytest.mark.parametrize("method", [StratifiedRandom(), Herding()])
@given(case=sizes_and_share)
def test_every_class_loses_its_share(method, case):
    sizes, rng = case[0], np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    count = int(case[1] * len(labels))
    order = method.preference(Evidence(groups=labels, features=rng.normal(size=(len(labels), 2))), count, rng)
    gone = np.bincount(labels[order[:count]], minlength=len(sizes))
    assert gone.tolist() == largest_remainder(sizes, count)


def test_any_first_part_is_in_proportion():
    labels = np.repeat(np.arange(3), [60, 30, 10])
    order = StratifiedRandom().preference(Evidence(groups=labels), 47, np.random.default_rng(0))
    for part in range(1, 100):
        gone = np.bincount(labels[order[:part]], minlength=3)
        assert np.abs(gone - part * np.array([0.6, 0.3, 0.1])).max() <= 1.5


def test_quotas_of_the_constraints_are_the_same():
    labels = np.repeat(np.arange(4), [13, 29, 7, 51])
    rules = Constraints(labels, 4, np.zeros(100, bool), proportional=True)
    for count in range(90):
        assert rules.quotas(count).tolist() == largest_remainder([13, 29, 7, 51], count)


@given(sizes_and_share)
def test_stratum_budgets_are_those_of_the_paper_and_use_all_of_the_budget(case):
    sizes, share = np.array(case[0]), case[1]
    budget = int(share * sizes.sum())
    budgets = stratum_budgets(sizes, budget)
    assert budgets.tolist() == budgets_of_the_paper(case[0], budget)
    assert budgets.sum() == budget


@given(seed=st.integers(0, 10**6), count=st.integers(0, 60), cut=st.sampled_from([0.0, 0.1, 0.35]))
def test_ccs_keeps_the_budget_of_each_stratum(seed, count, cut):
    evidence, strata = make_evidence(seed, rows=60), 7
    score = evidence.gradient_norm
    kept = CCS(score=GraNd(), cut=cut, strata=strata).preference(evidence, count, np.random.default_rng(seed))[count:]
    dropped = min(int(60 * cut), count)
    rest = sorted(range(60), key=lambda i: score[i])[: 60 - dropped]
    assert set(kept) <= set(rest)
    if len(rest) > 1:
        edges = np.linspace(score[rest].min(), score[rest].max(), strata + 1)
        sizes, _ = np.histogram(score[rest], edges)
        assert np.histogram(score[kept], edges)[0].tolist() == budgets_of_the_paper(sizes.tolist(), 60 - count)


def test_ccs_cuts_low_margins_as_the_hard_ones():
    evidence = make_evidence(1, rows=40)
    order = CCS(score=AUM(), cut=0.25).preference(evidence, 20, np.random.default_rng(0))
    assert set(order[:10]) == set(np.argsort(AUM().scores(evidence))[:10])


@pytest.mark.parametrize(("count", "dropped"), [(300, 0), (500, 0), (700, 100), (800, 100), (900, 300), (990, 300)])
def test_ccs_cuts_by_the_schedule_of_its_docstring(count, dropped):
    evidence = Evidence(groups=np.zeros(1000, int), gradient_norm=np.arange(1000.0))
    order = CCS(score=GraNd(), strata=1).preference(evidence, count, np.random.default_rng(0))
    hardest_first = np.arange(999, -1, -1)
    np.testing.assert_array_equal(order[:dropped], hardest_first[:dropped])
    assert order[dropped : dropped + 5].tolist() != hardest_first[dropped : dropped + 5].tolist()  # from here on a draw


def test_ccs_never_cuts_more_than_has_to_go():
    evidence = Evidence(groups=np.zeros(10, int), gradient_norm=np.arange(10.0))
    order = CCS(score=GraNd(), cut=0.9).preference(evidence, 3, np.random.default_rng(0))
    assert sorted(order[:3]) == [7, 8, 9]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cut": 1.0}, r"`CCS\(cut=1.0\)` must lie in 0 <= cut < 1"),
        ({"cut": -0.1}, r"`CCS\(cut=-0.1\)`"),
        ({"strata": 0}, r"`CCS\(strata=0\)`"),
        ({"score": Moderate()}, r"must be a score that measures difficulty: `AUM\(\)`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        CCS(**options)


def test_a_score_without_a_hard_end_says_so():
    with pytest.raises(InputError, match=r"`Moderate\(\)` does not say which examples are hard"):
        Moderate().difficulty(make_evidence(0))
