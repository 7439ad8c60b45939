import numpy as np
import pytest

from leanset import Cholesky, ConjugateGradients, DivergenceError, InputError, Kronecker, LiSSA
from leanset._arrays import mask_of
from leanset.data import checked_examples
from leanset.head import FittedHead, Softmax, design_of, fit_head
from leanset.head.loss import contrasts
from leanset.influence import choose_inverse, influence_map, prepare_inverses
from tests import plain

L2 = 1e-2
EXACT = (Cholesky(), ConjugateGradients(), ConjugateGradients(explicit_up_to=0), LiSSA(depth=20_000, tolerance=1e-11))


@pytest.fixture(scope="module")
def state():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 200)
    examples = checked_examples(rng.normal(size=(200, 4)) + np.eye(3, 4)[labels], labels)
    design, _, _ = design_of(examples, Softmax(3), standardize=True)
    return FittedHead.at(design, fit_head(design, L2).theta, L2)


@pytest.fixture(scope="module")
def oracle(state):
    """All centred influence vectors (1/n) H⁻¹ (g_i + l2·θ) from the formula, one by one."""
    h = plain.hessian(state.theta, plain.matrix_of(state.design), L2)
    g = plain.gradients(state.theta, plain.matrix_of(state.design), state.design.targets) + L2 * state.theta
    return np.linalg.solve(h, g.reshape(200, -1).T).T / 200


def expand(vectors, state):
    reduced = vectors.reshape(len(vectors), 2, -1)
    return np.einsum("kbd,cb->kcd", reduced, contrasts(3)).reshape(len(vectors), -1)


@pytest.mark.parametrize("inverse", EXACT, ids=str)
def test_exact_inverses_give_the_formula_and_a_true_residual(state, oracle, inverse):
    influence = influence_map(state, inverse)
    np.testing.assert_allclose(
        expand(influence.vectors(np.arange(200)), state), oracle, atol=2e-6 * np.abs(oracle).max()
    )
    assert influence.residual < 1e-8
    np.testing.assert_allclose(influence.norms(), np.linalg.norm(oracle, axis=1), rtol=1e-5)


@pytest.mark.parametrize("inverse", [*EXACT, Kronecker(), LiSSA(depth=50)], ids=str)
def test_the_residual_is_what_it_says(state, inverse):
    rhs = np.random.default_rng(0).normal(size=(3, *state.theta.shape))
    answer = inverse.prepare(state.curvature()).solve(rhs)
    h = plain.hessian(state.theta, plain.matrix_of(state.design), L2)
    left = answer.solution.reshape(3, -1) @ h - rhs.reshape(3, -1)
    expected = np.linalg.norm(left, axis=1) / np.linalg.norm(rhs.reshape(3, -1), axis=1)
    np.testing.assert_allclose(answer.residual, expected, rtol=1e-6, atol=1e-13)


def test_centred_influences_add_up_to_zero_and_uncentred_to_the_penalty(state):
    everyone, inverses = np.ones(200), prepare_inverses(state, Cholesky(), 2**30)
    assert np.linalg.norm(inverses.influence_of_sum(state, everyone).solution) < 1e-8
    uncentred = inverses.influence_of_sum(state, everyone, centred=False).solution.ravel()
    h = plain.hessian(state.theta, plain.matrix_of(state.design), L2)
    np.testing.assert_allclose(uncentred, -np.linalg.solve(h, L2 * state.theta.ravel()), atol=1e-8)


@pytest.mark.parametrize("inverse", [Cholesky(), Kronecker(), Kronecker(directions=5)], ids=str)
def test_totals_are_sums_of_vectors(state, inverse):
    influence = influence_map(state, inverse)
    rows = np.array([3, 77, 78, 150])
    np.testing.assert_allclose(
        influence.total(mask_of(rows, 200).astype(float)), influence.vectors(rows).sum(axis=0), atol=1e-6
    )


@pytest.mark.parametrize("inverse", [Cholesky(), Kronecker()], ids=str)
def test_coordinates_keep_lengths(state, inverse):
    head = np.random.default_rng(5).normal(size=state.theta.shape)
    head -= head.mean(axis=0)  # influence vectors have class rows that add up to zero
    coordinates = influence_map(state, inverse).coordinates(head)
    assert np.linalg.norm(coordinates) == pytest.approx(np.linalg.norm(head))


@pytest.mark.parametrize(("most", "stride"), [(200, 1), (50, 4)])
def test_the_remark_on_kronecker_states_its_error_on_a_sample_of_the_rows(state, monkeypatch, most, stride):
    monkeypatch.setattr("leanset.influence.kronecker._SAMPLED_ROWS", most)
    sample, stack = state.curvature().every(stride), state.gradients(np.array([0, 66, 132, 199]))
    exact = np.linalg.solve(
        plain.hessian(state.theta, plain.matrix_of(sample.design), L2), stack.reshape(4, -1).T
    ).T.reshape(stack.shape)
    error = np.linalg.norm(sample.kronecker().solve(stack) - exact) / np.linalg.norm(exact)
    said = Kronecker().remark(state, influence_map(state, Kronecker()))
    assert f"relative error {error:.2g} " in said
    assert (f"every {stride}th row" in said) == (stride > 1)
    assert len(sample.design) == 200 // stride


def test_kronecker_norms_agree_with_its_vectors_and_fewer_directions_capture_less(state):
    whole, part = influence_map(state, Kronecker()), influence_map(state, Kronecker(directions=3))
    np.testing.assert_allclose(np.linalg.norm(whole.vectors(np.arange(200)), axis=1), whole.norms(), rtol=1e-5)
    assert whole.captured == pytest.approx(1.0)
    assert 0 < part.captured < 1
    assert part.vectors(np.arange(4)).shape == (4, 3)


def test_kept_rows_choose_the_hessian_and_the_divisor(state):
    kept = np.arange(0, 200, 2)
    influence = influence_map(state, Cholesky(), weights=mask_of(kept, 200).astype(float))
    h = plain.hessian(state.theta, plain.matrix_of(state.design)[kept], L2)
    g = plain.gradient_of(state.theta, plain.matrix_of(state.design)[5], state.design.targets[5]) + L2 * state.theta
    expected = np.linalg.solve(h, g.ravel()) / 100
    np.testing.assert_allclose(expand(influence.vectors(np.array([5])), state)[0], expected, atol=1e-6)


def test_contrasts_are_orthonormal_and_blind_to_constants():
    for n_classes in (2, 3, 10, 200):
        basis = contrasts(n_classes)
        np.testing.assert_allclose(basis.T @ basis, np.eye(n_classes - 1), atol=1e-12)
        np.testing.assert_allclose(basis.sum(axis=0), 0.0, atol=1e-12)


def test_lissa_divergence_is_an_error_with_advice(state):
    with pytest.raises(DivergenceError, match=r"LiSSA diverged after \d+ steps: scale=0\.01 .*LiSSA\(scale=None\)"):
        influence_map(state, LiSSA(scale=0.01))


def test_lissa_with_batches_comes_near(state):
    rhs = np.random.default_rng(0).normal(size=(1, *state.theta.shape))
    exact = Cholesky().prepare(state.curvature()).solve(rhs).solution
    noisy = LiSSA(depth=3000, batch_size=50, repeats=4).prepare(state.curvature()).solve(rhs)
    assert np.linalg.norm(noisy.solution - exact) < 0.25 * np.linalg.norm(exact)


def test_conjugate_gradients_past_convergence_stay_finite(state):  # a peer's turn into NaN there
    rhs = np.stack([np.zeros(state.theta.shape), np.ones(state.theta.shape), state.theta])
    answer = ConjugateGradients(tolerance=1e-300, max_iterations=300).prepare(state.curvature()).solve(rhs)
    assert np.isfinite(answer.solution).all()
    assert answer.worst_residual < 1e-10


def test_default_inverse_follows_size_and_memory():
    assert isinstance(choose_inverse((10, 65), 2**30), Cholesky)
    assert isinstance(choose_inverse((10, 65), 2**20), Kronecker)
    assert isinstance(choose_inverse((200, 513), 2**40), Kronecker)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ConjugateGradients(tolerance=0),
        lambda: ConjugateGradients(max_iterations=0),
        lambda: LiSSA(depth=0),
        lambda: LiSSA(scale=-1.0),
        lambda: LiSSA(batch_size=0),
    ],
)
def test_settings_are_checked_on_construction(make):
    with pytest.raises(InputError, match=r"^`(ConjugateGradients|LiSSA)\("):
        make()
