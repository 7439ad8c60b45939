"""Heads without a penalty: allowed where the minimum exists, refused with the reason where it does not."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

import leanset


@pytest.fixture(scope="module")
def noisy():
    """Three classes that no head can separate."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(900, 4))
    return features, (features[:, 0] + rng.normal(size=900) > 0).astype(int) + (rng.random(900) > 0.6)


def pruned(features, labels, **options):
    return leanset.prune(features, labels, **{"l2": 0, "fraction": 0.6, "progress": False, **options})


@pytest.mark.parametrize("weights", [False, True])
def test_the_change_is_the_one_of_scikit_learns_unpenalised_heads(noisy, weights):
    features, labels = noisy
    result = pruned(features, labels, weights=weights, standardize=False)
    unpenalised = {"C": np.inf, "tol": 1e-12, "max_iter": 10_000}
    full = LogisticRegression(**unpenalised).fit(features, labels)
    lean = LogisticRegression(**unpenalised).fit(
        features[result.kept], labels[result.kept], sample_weight=result.weights
    )
    moved = np.column_stack([lean.coef_ - full.coef_, lean.intercept_ - full.intercept_])
    assert np.linalg.norm(moved - moved.mean(axis=0)) == pytest.approx(
        result.certificate.refit_change, rel=1e-2, abs=1e-5
    )


def test_weights_reproduce_least_squares():
    rng = np.random.default_rng(1)
    features, numbers = rng.normal(size=(300, 5)), rng.normal(size=300)
    result = pruned(features, numbers, loss="squared", weights=True)
    lean = LinearRegression().fit(features[result.kept], numbers[result.kept], sample_weight=result.weights)
    np.testing.assert_allclose(lean.coef_, LinearRegression().fit(features, numbers).coef_, atol=1e-9)


def test_both_penalties_are_one(noisy):
    same = [pruned(*noisy, penalty=penalty).certificate for penalty in ("mean", "total")]
    for certificate in same:
        assert certificate.train_l2 == 0
        assert certificate.other_penalty_change == pytest.approx(certificate.refit_change)


def test_verify_accepts_the_run(noisy, tmp_path):
    features, labels = noisy
    np.savez(tmp_path / "data.npz", features=features, labels=labels)
    leanset.prune(str(tmp_path / "data.npz"), l2=0, fraction=0.6, out=tmp_path / "run", progress=False)
    assert all(check.holds for check in leanset.verify(tmp_path / "run", str(tmp_path / "data.npz")))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(lambda noisy: load_iris(return_X_y=True), id="separable"),
        pytest.param(lambda noisy: (noisy[0][:, [0, 1, 2, 3, 0]], noisy[1]), id="a feature twice"),
        pytest.param(lambda noisy: (np.eye(6), np.arange(6) % 2), id="fewer examples than weights"),
    ],
)
def test_no_minimum_is_one_clear_line(noisy, data):
    features, labels = data(noisy)
    with pytest.raises(leanset.DivergenceError, match=rf"no minimum on {len(labels)} of the examples.*Give an `l2`"):
        pruned(features, labels, fraction=0.34)


def test_the_frontier_ends_where_no_minimum_is_left():
    rng = np.random.default_rng(2)
    features, labels = rng.normal(size=(400, 30)), rng.integers(0, 2, 400)
    sizes = [point.fraction for point in pruned(features, labels, fraction=0.2).frontier]
    with_penalty = [point.fraction for point in pruned(features, labels, fraction=0.2, l2=1.0).frontier]
    assert 0.2 in sizes
    assert max(sizes) < 0.9 < max(with_penalty)
