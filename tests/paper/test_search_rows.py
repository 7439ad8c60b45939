import numpy as np
import pytest
import scipy.stats

from leanset import InputError
from leanset.paper.search_rows import search_rows

NAMES = [f"design {k}" for k in range(24)]


@pytest.fixture
def whole():
    return dict(zip(NAMES, np.random.default_rng(0).permutation(24) / 30, strict=True))


def noisy(whole, noise, seed=1):
    rng = np.random.default_rng(seed)
    return {name: accuracy / 2 + noise * rng.normal() for name, accuracy in whole.items()}


def test_correlations_are_scipys_over_all_and_over_the_best_by_the_whole_set(whole):
    proxy = noisy(whole, 0.1)
    [row] = search_rows({"herding": [proxy]}, whole, draws=50)
    best = sorted(NAMES, key=whole.get, reverse=True)[:10]
    for names, value in ((NAMES, row.correlation), (best, row.top_correlation)):
        expected = scipy.stats.spearmanr([proxy[name] for name in names], [whole[name] for name in names]).statistic
        assert value == pytest.approx(expected, abs=1e-12)
    assert (row.method, row.designs) == ("herding", 24)


def test_the_chosen_design_is_the_proxys_best_and_regret_is_what_it_lacks(whole):
    proxy = noisy(whole, 0.3)
    [row] = search_rows({"random": [proxy]}, whole, draws=50)
    chosen = row.chosen
    assert chosen == max(NAMES, key=proxy.get)
    assert row.accuracy_of_chosen == whole[chosen]
    assert row.best_accuracy == max(whole.values())
    assert row.regret == row.best_accuracy - row.accuracy_of_chosen > 0


def test_a_proxy_in_the_same_order_loses_nothing_and_one_in_reverse_order_most(whole):
    same, reverse = search_rows(
        {"same": [{k: v**3 for k, v in whole.items()}], "reverse": [{k: -v for k, v in whole.items()}]}, whole, draws=50
    )
    assert same.regret == 0
    assert reverse.accuracy_of_chosen == min(whole.values())
    for row, sign in ((same, 1), (reverse, -1)):
        numbers = (row.correlation, row.top_correlation, *row.interval, *row.top_interval)
        assert numbers == pytest.approx([sign] * 6, abs=1e-12)


def test_intervals_hold_their_correlation_and_narrow_with_less_noise(whole):
    clear, unclear = search_rows({"clear": [noisy(whole, 0.01)], "unclear": [noisy(whole, 0.3)]}, whole, draws=400)
    for row in (clear, unclear):
        assert row.interval[0] <= row.correlation <= row.interval[1]
        assert row.top_interval[0] <= row.top_correlation <= row.top_interval[1]
    assert np.ptp(clear.interval) < np.ptp(unclear.interval)
    assert np.ptp(unclear.interval) < np.ptp(unclear.top_interval)  # ten designs tell less than all


def test_the_order_of_the_designs_in_a_proxy_does_not_matter(whole):
    proxy = noisy(whole, 0.1)
    turned = dict(reversed(proxy.items()))
    assert search_rows({"a": [proxy]}, whole, draws=50) == search_rows({"a": [turned]}, whole, draws=50)


def test_several_draws_are_searches_of_their_own_and_figures_are_their_means(whole):
    draws = [noisy(whole, 0.3, seed) for seed in (1, 2, 3)]
    [row] = search_rows({"a": draws}, whole, draws=50)
    alone = [search_rows({"a": [each]}, whole, draws=50)[0] for each in draws]
    assert row.chosen == ", ".join(each.chosen for each in alone)
    for figure in ("accuracy_of_chosen", "regret", "top_correlation", "correlation"):
        assert getattr(row, figure) == pytest.approx(np.mean([getattr(each, figure) for each in alone]), abs=1e-12)


def test_with_few_designs_the_top_is_all_of_them(whole):
    few = {name: whole[name] for name in NAMES[:6]}
    [row] = search_rows({"a": [noisy(few, 0.2)]}, few, draws=50)
    assert (row.top_correlation, *row.top_interval) == pytest.approx((row.correlation, *row.interval))


def test_shares_are_quotients_and_none_if_not_told(whole):
    proxy = {"a": [noisy(whole, 0.1)], "b": [noisy(whole, 0.2)]}
    rows = search_rows(
        proxy,
        whole,
        proxy_images=1000,
        whole_images=50_000,
        proxy_epochs=8,
        whole_epochs=2,
        draws=10,
    )
    assert [row.training_share for row in rows] == pytest.approx([8 * 1000 / (2 * 50_000)] * 2)
    assert [row.storage_share for row in rows] == [1000 / 50_000] * 2
    assert {(row.training_share, row.storage_share) for row in search_rows(proxy, whole, draws=10)} == {(None, None)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"proxy": {"a": [{"design 0": 0.1}]}}, "designs of `whole`; 23 are in one only"),
        ({"proxy": {"a": [dict.fromkeys(NAMES, float("nan"))]}}, r"`proxy\['a'\]\[0\]` must be finite; design 0"),
        ({"proxy": {"a": []}}, r"`proxy\['a'\]` must hold at least one draw"),
        ({"whole": {"design 0": 0.5}}, "at least two designs; got 1"),
        ({"whole_images": 5}, "both `proxy_images` and `whole_images`"),
        ({"proxy_images": 5, "whole_images": 0}, "`whole_images=0` positive"),
    ],
)
def test_what_does_not_fit_together_is_refused(whole, change, said):
    given = {"proxy": {"a": [noisy(whole, 0.1)]}, "whole": whole} | change
    with pytest.raises(InputError, match=said):
        search_rows(given.pop("proxy"), given.pop("whole"), draws=10, **given)
