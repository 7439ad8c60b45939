import numpy as np
import pytest

from leanset import DivergenceError
from leanset._threads import working_threads
from leanset.data import checked_examples
from leanset.head import Curvature, Softmax, design_of, fit_head
from tests import plain


@pytest.fixture
def fitted(toy):
    features, labels, _ = toy
    design, _, _ = design_of(checked_examples(features, labels), Softmax(3), standardize=True)
    return design, fit_head(design, 1e-2)


def test_design_is_the_standardised_features_with_ones(toy):
    design, held_out, _ = design_of(checked_examples(*toy[:2], toy[2]), Softmax(3), standardize=True)
    np.testing.assert_allclose(plain.matrix_of(design), plain.design(toy[0]), atol=1e-12)
    scaled = (toy[2][0] - toy[0].mean(axis=0)) / toy[0].std(axis=0)
    np.testing.assert_allclose(plain.matrix_of(held_out)[:, :-1], scaled, atol=1e-12)


def test_constant_columns_become_zero_whatever_their_size(toy):
    features = np.column_stack([toy[0], np.full(240, 1e9), np.full(240, 0.1), np.zeros(240)])
    design, _, _ = design_of(checked_examples(features, toy[1]), Softmax(3), standardize=True)
    np.testing.assert_allclose(plain.matrix_of(design)[:, 5:8], 0.0, atol=1e-6)


def test_fit_finds_the_minimum_of_the_stated_objective(toy, fitted):
    _, fit = fitted
    oracle = plain.fit(plain.design(toy[0]), toy[1], 3, 1e-2)
    np.testing.assert_allclose(fit.theta, oracle, atol=1e-8)
    assert np.linalg.norm(fit.theta - oracle) <= fit.error_bound + 1e-12


def test_probabilities_and_losses_follow_the_formula(fitted):
    design, fit = fitted
    expected = np.array([plain.softmax(fit.theta @ row) for row in plain.matrix_of(design)])
    np.testing.assert_allclose(design.predicted(fit.theta), expected, rtol=1e-12)
    np.testing.assert_allclose(design.losses(fit.theta), -np.log(expected[np.arange(240), design.targets]), rtol=1e-9)


def test_huge_logits_stay_finite(fitted):
    design, fit = fitted
    assert np.isfinite(design.losses(1e4 * fit.theta)).all()


def test_hessian_in_all_its_forms(fitted):
    design, fit = fitted
    curvature = Curvature(design, design.predicted(fit.theta), 1e-2)
    oracle = plain.hessian(fit.theta, plain.matrix_of(design), 1e-2)
    np.testing.assert_allclose(curvature.hessian(), oracle, atol=1e-13)
    stack = np.random.default_rng(0).normal(size=(4, 3, 6))
    np.testing.assert_allclose(curvature.apply(stack).reshape(4, -1), stack.reshape(4, -1) @ oracle, atol=1e-12)


def test_kronecker_factors_keep_the_diagonal_in_their_basis(fitted):
    design, fit = fitted
    factors = Curvature(design, design.predicted(fit.theta), 1e-2).kronecker()
    basis = np.kron(factors.output_basis, factors.feature_basis)
    exact = np.diag(basis.T @ plain.hessian(fit.theta, plain.matrix_of(design), 1e-2) @ basis)
    np.testing.assert_allclose(factors.eigenvalues.ravel(), exact, rtol=1e-10)


def test_a_given_head_is_polished_to_the_same_minimum(toy, fitted):
    design, fit = fitted
    start = np.random.default_rng(1).normal(size=fit.theta.shape)
    np.testing.assert_allclose(fit_head(design, 1e-2, start=start).theta, fit.theta, atol=1e-6)


def test_raw_head_keeps_its_outputs_on_scaled_features(toy):
    examples = checked_examples(*toy[:2])
    design, _, scaling = design_of(examples, Softmax(3), standardize=True)
    raw = np.random.default_rng(2).normal(size=(3, 6))
    ones = np.column_stack([toy[0], np.ones(240)])
    np.testing.assert_allclose(plain.matrix_of(design) @ scaling.head_from_raw(raw).T, ones @ raw.T, atol=1e-10)


def test_thread_count_does_not_change_a_bit():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 30_000)
    features = rng.normal(size=(30_000, 12)) + np.eye(4, 12)[labels]
    design, _, _ = design_of(checked_examples(features, labels), Softmax(4), standardize=True)
    heads = []
    for threads in (1, 2, 5):
        with working_threads(threads):
            heads.append(fit_head(design, 1e-3).theta.tobytes())
    assert len(set(heads)) == 1


def test_giving_up_is_an_error_with_advice(fitted):
    with pytest.raises(DivergenceError, match=r"raise `l2=0\.01`"):
        fit_head(fitted[0], 1e-2, max_iterations=1, relative_error=1e-14)
