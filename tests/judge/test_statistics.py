import itertools

import numpy as np
import pytest
from scipy import stats

from leanset import InputError
from leanset.judge import (
    bootstrap_interval,
    holm,
    mean_interval,
    paired,
    paired_by_row,
    spearman,
    top_spearman,
)
from leanset.judge.statistics import sign_flip_p

RNG = np.random.default_rng(11)
SAMPLES = tuple(RNG.normal(0.9, 0.01, n) for n in (2, 3, 5, 40))


@pytest.mark.parametrize("values", SAMPLES)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_mean_interval_is_students(values, level):
    ours = mean_interval(values, level)
    low, high = stats.t.interval(level, len(values) - 1, values.mean(), stats.sem(values))
    np.testing.assert_allclose([ours.mean, ours.low, ours.high], [values.mean(), low, high], rtol=1e-12)
    assert (ours.n, ours.level) == (len(values), level)


@pytest.mark.parametrize("ours", SAMPLES)
def test_paired_is_the_paired_t_test(ours):
    theirs = ours + np.random.default_rng(len(ours)).normal(0.003, 0.005, len(ours))
    comparison, oracle = paired(ours, theirs), stats.ttest_rel(ours, theirs)
    assert comparison.p_value == pytest.approx(oracle.pvalue, rel=1e-9)
    low, high = oracle.confidence_interval(0.95)
    np.testing.assert_allclose([comparison.difference.low, comparison.difference.high], [low, high], rtol=1e-9)


@pytest.mark.parametrize("shift", np.linspace(-0.02, 0.02, 21))
def test_the_interval_leaves_zero_out_exactly_where_the_test_rejects(shift):
    for level, sample in itertools.product((0.8, 0.95), SAMPLES[1:]):
        comparison = paired(sample + shift, np.full(len(sample), 0.9), level)
        outside = comparison.difference.low > 0 or comparison.difference.high < 0
        assert outside == (comparison.p_value < 1 - level)


def test_swapping_the_methods_turns_the_sign_only():
    one, two = paired(SAMPLES[2], SAMPLES[3][:5]), paired(SAMPLES[3][:5], SAMPLES[2])
    assert one.p_value == two.p_value
    assert one.difference.low == pytest.approx(-two.difference.high)


def test_the_same_difference_in_every_seed_is_certain():
    theirs = np.array([0.5, 0.25, 0.75])
    same, shifted = paired(theirs, theirs), paired(theirs + 0.125, theirs)
    assert same.p_value == 1.0
    assert same.difference.low == same.difference.high == 0.0
    assert shifted.p_value == 0.0
    assert shifted.difference.low == shifted.difference.high == 0.125


def test_rounding_is_no_difference():  # 0.1 + 0.2 is not 0.3, and the same excess in every seed looked certain
    assert paired([0.1 + 0.2] * 3, [0.3] * 3).p_value == 1.0


def test_one_seed_has_a_mean_and_nothing_else():
    comparison = paired([0.75], [0.5])
    assert comparison.difference.mean == 0.25
    assert np.isnan([comparison.difference.low, comparison.difference.high, comparison.p_value]).all()
    assert np.isnan([mean_interval([0.5]).low, mean_interval([0.5]).high]).all()


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_sign_flips_are_the_enumeration(n):
    differences = np.random.default_rng(n).normal(0.5, 1.0, n)
    patterns = list(itertools.product((-1, 1), repeat=n))
    as_far = sum(abs(np.dot(signs, differences)) >= abs(differences.sum()) - 1e-12 for signs in patterns)
    assert sign_flip_p(differences) == as_far / len(patterns)


def test_sign_flips_agree_with_scipy_and_ignore_order_and_sign():
    differences = np.random.default_rng(5).normal(0.6, 1.0, 9)
    oracle = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip_p(differences) == pytest.approx(oracle.pvalue)
    assert sign_flip_p(differences) == sign_flip_p(-differences[::-1])


def test_drawn_sign_flips_approach_the_exact_p():
    few = np.random.default_rng(2).normal(0.3, 1.0, 15)
    exact, drawn = sign_flip_p(few), sign_flip_p(np.append(few, np.zeros(3)))  # zeros change no sum
    assert drawn == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 2**16))
    assert drawn == sign_flip_p(np.append(few, np.zeros(3)))
    assert sign_flip_p(np.ones(30), draws=999) == 1 / 1000  # never 0


def test_equal_differences_reach_the_smallest_p():
    for n in range(1, 9):
        assert sign_flip_p(np.full(n, 0.1)) == 2 / 2**n


def rejected_by_step_down(p_values, alpha):
    """Holm's procedure as he wrote it: walk up from the smallest, stop at the first that fails."""
    rejected = set()
    for k, i in enumerate(np.argsort(p_values)):
        if p_values[i] > alpha / (len(p_values) - k):
            break
        rejected.add(int(i))
    return rejected


def test_holm_rejects_what_the_step_down_procedure_rejects():
    for seed in range(30):
        p_values = np.random.default_rng(seed).beta(0.4, 2.0, 7)
        for alpha in (0.01, 0.05, 0.3):
            assert set(np.flatnonzero(holm(p_values) <= alpha)) == rejected_by_step_down(p_values, alpha)


def test_holm_leaves_nan_alone_and_uncounted():
    p_values = np.array([0.04, 0.001, 0.3, 0.02])
    with_gaps = holm(np.insert(p_values, [0, 2], np.nan))
    np.testing.assert_array_equal(with_gaps, np.insert(holm(p_values), [0, 2], np.nan))
    assert holm([0.02]) == [0.02]
    assert holm([]).shape == (0,)
    assert np.isnan(holm([np.nan])).all()


def test_bootstrap_of_a_mean_nears_the_normal_interval():
    values = np.random.default_rng(0).normal(size=400)
    low, high = bootstrap_interval(lambda rows: values[rows].mean(), 400, draws=4000)
    error = values.std() / np.sqrt(400)
    np.testing.assert_allclose([low, high], stats.norm.interval(0.95, values.mean(), error), atol=0.2 * error)


def test_bootstrap_draws_depend_on_the_seed_and_widen_with_the_level():
    values = np.random.default_rng(0).normal(size=50)

    def interval(**more):
        return bootstrap_interval(lambda rows: values[rows].mean(), 50, draws=300, **more)

    assert interval() == interval(seed=0) != interval(seed=1)
    assert interval(level=0.99)[0] < interval(level=0.8)[0] < interval(level=0.8)[1] < interval(level=0.99)[1]


def test_bootstrap_leaves_nan_draws_out():
    a, b = np.arange(4.0), np.array([1.0, 2.0, 3.0, 5.0])
    assert bootstrap_interval(lambda rows: spearman(a[rows], b[rows]), 4) == (1.0, 1.0)  # else constant or rising
    assert np.isnan(bootstrap_interval(lambda rows: np.nan, 4, draws=5)).all()


@pytest.mark.parametrize("values", [3, 10, 1000])
def test_spearman_is_scipys(values):
    for seed in range(5):
        a, b = np.random.default_rng(seed).integers(0, values, (2, 30))  # few values, many ties
        assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


def test_spearman_sees_ranks_only():
    a = np.random.default_rng(0).normal(size=20)
    assert spearman(a, np.exp(a)) == pytest.approx(1.0)
    assert spearman(a, -(a**3)) == pytest.approx(-1.0)


@pytest.mark.parametrize(("a", "b"), [([1, 1, 1], [1, 2, 3]), ([1], [2]), ([], []), ([1, np.nan, 2], [1, 2, 3])])
def test_no_order_has_no_correlation(a, b):
    assert np.isnan(spearman(a, b))


def test_top_spearman_looks_at_the_best_by_truth():
    scores, truth = np.random.default_rng(3).normal(size=(2, 40))
    best = sorted(range(40), key=lambda i: truth[i])[-10:]
    assert top_spearman(scores, truth) == pytest.approx(stats.spearmanr(scores[best], truth[best]).statistic)
    assert top_spearman(scores, truth, top=100) == spearman(scores, truth)
    spoiled = np.where(truth < np.median(truth), 1e9, scores)  # what happens among the others does not matter
    assert top_spearman(spoiled, truth) == top_spearman(scores, truth)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mean_interval([]), "`values` must be"),
        (lambda: mean_interval([1.0, np.nan]), "finite"),
        (lambda: mean_interval([1.0, 2.0], level=95), "`level=95` must lie between 0 and 1"),
        (lambda: paired([1.0, 2.0], [1.0]), r"shapes \(2,\) and \(1,\)"),
        (lambda: holm([0.1, 1.2]), r"0\.\.1"),
        (lambda: sign_flip_p([1.0], draws=0), "`draws=0`"),
        (lambda: bootstrap_interval(len, 0), "n=0"),
        (lambda: top_spearman([1.0], [1.0], top=1), "`top=1`"),
    ],
)
def test_what_cannot_be_judged_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def crossed(rng, seeds=4, rows=60, shift=0.0, between_seeds=0.5, between_rows=1.0, rest=0.7):
    """Differences with an effect of each seed, of each row, and of both together."""
    effects = between_seeds * rng.normal(size=(seeds, 1)) + between_rows * rng.normal(size=(1, rows))
    return shift + effects + rest * rng.normal(size=(seeds, rows))


def by_row(differences, rows=None):
    theirs = np.zeros_like(differences)
    return paired_by_row(
        differences, theirs, [np.arange(differences.shape[1])] * len(differences) if rows is None else rows
    )


def test_the_half_widths_over_rows_and_over_seeds_are_sides_of_a_right_triangle():
    differences = crossed(np.random.default_rng(0))
    halves = [
        stats.t.ppf(0.975, len(means) - 1) * stats.sem(means)
        for means in (differences.mean(axis=0), differences.mean(axis=1))
    ]
    ours, mean = by_row(differences), differences.mean()
    np.testing.assert_allclose([ours.low, ours.high], [mean - np.hypot(*halves), mean + np.hypot(*halves)], rtol=1e-10)
    assert (ours.mean, ours.n) == (pytest.approx(mean), len(differences))


def test_with_one_seed_it_is_the_paired_t_interval_over_rows():
    ours, theirs = np.random.default_rng(1).normal(0.5, 0.1, (2, 40))
    interval, oracle = paired_by_row([ours], [theirs], [np.arange(40)]), stats.ttest_rel(ours, theirs)
    low, high = oracle.confidence_interval(0.95)
    np.testing.assert_allclose([interval.low, interval.high], [low, high], rtol=1e-9)
    assert interval.n == 1


@pytest.mark.parametrize("spread", [{}, {"between_seeds": 0.0}, {"between_rows": 0.0}, {"seeds": 2}, {"seeds": 3}])
def test_the_interval_covers_the_truth_as_often_as_it_says_or_more(spread):
    rng = np.random.default_rng(2)
    found = [by_row(crossed(rng, shift=0.3, **spread)) for _ in range(400)]
    assert np.mean([interval.low <= 0.3 <= interval.high for interval in found]) >= 0.94


def test_rows_that_seeds_share_are_told_from_rows_that_they_do_not():
    rng = np.random.default_rng(3)
    same = crossed(rng, between_seeds=0.0, rest=0.0)  # every seed says the same: its rows are all there is to know
    shared = by_row(same)
    apart = by_row(same, rows=np.arange(same.size).reshape(same.shape))
    assert (apart.high - apart.low) < 0.6 * (shared.high - shared.low)
    assert np.isnan(by_row(same[:, :1]).low)  # one row has no spread
    order = rng.permutation(same.shape[1])
    turned = by_row(np.vstack([same[:1], same[1:, order]]), rows=[np.arange(len(order)), *[order] * (len(same) - 1)])
    assert turned.low == pytest.approx(shared.low)  # a row's number says which it is, not its place


def test_no_spread_at_all_is_an_interval_without_width():
    nothing, shift = by_row(np.zeros((3, 5))), by_row(np.full((3, 5), 0.25))
    assert (nothing.low, nothing.mean, nothing.high) == (0.0, 0.0, 0.0)
    assert (shift.low, shift.mean, shift.high) == (0.25, 0.25, 0.25)
