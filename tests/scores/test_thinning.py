"""Samples of a given size with given probabilities."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leanset.scores.thinning import drawn, kept_shares

weights = st.lists(st.one_of(st.floats(-20, 20), st.sampled_from([0.0, 700.0, -5000.0])), min_size=1, max_size=40)


@given(weights, st.floats(0, 1))
def test_shares_are_one_factor_times_the_weights_up_to_one(logs, share):
    log_weight, keep = np.array(logs), round(share * len(logs))
    shares = kept_shares(log_weight, keep)
    np.testing.assert_allclose(shares.sum(), keep, atol=1e-9)
    assert (shares >= 0).all()
    assert (shares <= 1 + 1e-9).all()
    assert (np.diff(shares[np.argsort(log_weight)]) >= -1e-12).all()
    thinned = (shares < 1 - 1e-9) & (log_weight > log_weight.max() - 500)
    if keep and thinned.any():
        factor = np.log(shares[thinned]) - log_weight[thinned]
        np.testing.assert_allclose(factor, factor[0], atol=1e-6)
        # One that stays for certain would have a probability of one or more.
        assert (factor[0] + log_weight[shares >= 1 - 1e-9] > -1e-6).all()


@given(weights, st.floats(0, 1), st.integers(0, 99))
def test_a_draw_has_its_size_and_is_even_along_the_rows(logs, share, seed):
    shares = kept_shares(np.array(logs), round(share * len(logs)))
    rows = drawn(shares, np.random.default_rng(seed))
    assert len(rows) == round(share * len(logs))
    assert len(set(rows.tolist())) == len(rows)
    taken = np.isin(np.arange(len(logs)), rows)
    for start in range(len(logs)):
        stretch = np.cumsum(taken[start:]) - np.cumsum(shares[start:])
        assert (np.abs(stretch) < 1 + 1e-6).all()


def test_every_row_is_drawn_as_often_as_its_share_says():
    shares = kept_shares(np.log(np.arange(1.0, 9.0)), 3)
    times, draws = np.zeros(8), 4000
    for seed in range(draws):
        times[drawn(shares, np.random.default_rng(seed))] += 1
    assert (np.abs(times - draws * shares) <= 5 * np.sqrt(draws * shares * (1 - shares)) + 1e-9).all()
