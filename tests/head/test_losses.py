"""Every loss meets the same tests; the oracles are finite differences and scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from leanset.head import LOSSES, Curvature, Design, FittedHead, fit_head, newton_step, refit
from leanset.influence import Cholesky, ConjugateGradients, Kronecker, LiSSA, influence_map, prepare_inverses
from leanset.recheck.plain import PlainProblem
from leanset.recheck.plain_losses import PLAIN_LOSSES
from leanset.rows import MemoryRows
from tests import plain

N, D, L2 = 120, 4, 3e-2


def targets_of(name, rng, logits):
    if name == "softmax":
        return (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    if name == "sigmoid":
        return (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
    return logits + 0.3 * rng.normal(size=logits.shape)


@pytest.fixture(params=LOSSES)
def design(request):
    rng = np.random.default_rng(4)
    x = np.column_stack([rng.normal(size=(N, D - 1)), np.ones(N)])
    targets = targets_of(request.param, rng, x @ rng.normal(size=(D, 3)))
    return Design(MemoryRows(x), targets, LOSSES[request.param](3))


@pytest.fixture
def head(design):
    return FittedHead.at(design, fit_head(design, L2, relative_error=1e-9).theta, L2)


def some_weights(seed=0):
    rng = np.random.default_rng(seed)
    return rng.exponential(size=N) * (rng.random(N) < 0.6)


def difference(function, at, step=1e-5):
    """Central differences of a function of (k, C) outputs, one output at a time."""
    parts = []
    for c in range(at.shape[1]):
        move = np.zeros_like(at)
        move[:, c] = step
        parts.append((function(at + move) - function(at - move)) / (2 * step))
    return np.stack(parts, axis=-1)


def test_the_residual_is_the_derivative_of_the_loss(design):
    logits = np.random.default_rng(0).normal(size=(N, 3))
    found = design.loss.residual(design.loss.predicted(logits), design.targets)
    np.testing.assert_allclose(found, difference(lambda z: design.loss.values(z, design.targets), logits), atol=1e-7)


def test_the_curvature_is_the_derivative_of_the_residual(design):
    logits = np.random.default_rng(1).normal(size=(N, 3))
    loss = design.loss
    expected = difference(lambda z: loss.residual(loss.predicted(z), design.targets), logits)  # (n, C, C), symmetric
    predicted = loss.predicted(logits)
    applied = loss.curved(np.broadcast_to(np.eye(3), (N, 3, 3)).copy(), predicted)
    np.testing.assert_allclose(applied, expected, atol=1e-7)
    np.testing.assert_allclose(loss.trace(predicted), np.trace(expected, axis1=1, axis2=2), atol=1e-7)
    basis = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    turned = np.einsum("cb,ncd,db->nb", basis, expected, basis)
    np.testing.assert_allclose(loss.along(predicted, basis), turned, atol=1e-7)
    assert np.linalg.eigvalsh(expected).max() <= loss.bound + 1e-7


def test_extreme_outputs_stay_finite(design):
    for size in (1e-300, 1e3, 1e5):
        logits = size * np.random.default_rng(0).normal(size=(N, 3))
        assert np.isfinite(design.loss.values(logits, design.targets)).all()
        assert np.isfinite(design.loss.predicted(logits)).all()


def test_the_plain_twin_agrees(design):
    logits = np.random.default_rng(5).normal(size=(N, 3))
    ours, twin = design.loss, PLAIN_LOSSES[design.loss.name]
    predicted = ours.predicted(logits)
    np.testing.assert_allclose(ours.values(logits, design.targets), twin.values(logits, design.targets), rtol=1e-10)
    np.testing.assert_allclose(
        ours.residual(predicted, design.targets), twin.errors(logits, design.targets), atol=1e-12
    )
    v = np.random.default_rng(6).normal(size=(N, 3))
    np.testing.assert_allclose(ours.curved(v[:, None, :], predicted)[:, 0], twin.curved(logits, v), atol=1e-12)
    change = np.random.default_rng(7).normal(size=(3, D))
    bound = 0.5 * ours.bound * design.mean_squared_output(ours.effective(change))
    assert twin.bound_energy(plain.matrix_of(design) @ change.T) == pytest.approx(bound)


def test_the_fit_is_that_of_scikit_learn(design, head):
    x, y = plain.matrix_of(design), design.targets
    logistic = {"C": 1 / (N * L2), "fit_intercept": False, "tol": 1e-10, "max_iter": 10_000}
    if design.loss.name == "squared":
        expected = Ridge(alpha=N * L2, fit_intercept=False).fit(x, y).coef_
    elif design.loss.name == "sigmoid":
        expected = np.vstack([LogisticRegression(**logistic).fit(x, y[:, c]).coef_ for c in range(3)])
    else:
        expected = LogisticRegression(**logistic).fit(x, y).coef_
    np.testing.assert_allclose(head.theta, expected, atol=2e-6)


def test_a_weighted_fit_counts_rows_as_often_as_they_say(design, head):
    """Whole weights are copies of rows; any weights are scikit-learn's sample weights."""
    counts = np.random.default_rng(1).integers(0, 4, N)
    found = fit_head(design, L2, weights=counts.astype(float), relative_error=1e-9).theta
    copies = np.repeat(np.arange(N), counts)
    np.testing.assert_allclose(found, fit_head(design.sample(copies), L2, relative_error=1e-9).theta, atol=1e-6)
    if design.loss.name == "squared":
        w = some_weights()
        ridge = Ridge(alpha=w.sum() * L2, fit_intercept=False)
        expected = ridge.fit(plain.matrix_of(design), design.targets, sample_weight=w).coef_
        np.testing.assert_allclose(fit_head(design, L2, weights=w, relative_error=1e-9).theta, expected, atol=1e-6)


@pytest.mark.parametrize("weights", [None, some_weights(), (some_weights() > 0).astype(float)])
def test_the_hessian_in_all_its_forms(design, head, weights):
    x, outputs = plain.matrix_of(design), 3
    w = np.ones(N) if weights is None else weights
    oracle = L2 * np.eye(outputs * D)
    for row, p, weight in zip(x, head.predicted, w, strict=True):
        block = design.loss.curved(np.eye(3)[None], p[None])[0]
        oracle += weight / w.sum() * np.kron(block, np.outer(row, row))
    curvature = head.curvature(weights)
    np.testing.assert_allclose(curvature.hessian(), oracle, atol=1e-12)
    stack = np.random.default_rng(0).normal(size=(4, outputs, D))
    np.testing.assert_allclose(curvature.apply(stack).reshape(4, -1), stack.reshape(4, -1) @ oracle, atol=1e-12)
    factors = curvature.kronecker()
    basis = np.kron(factors.output_basis, factors.feature_basis)
    np.testing.assert_allclose(factors.eigenvalues.ravel(), np.diag(basis.T @ oracle @ basis), rtol=1e-9)


def test_weights_of_zero_and_one_are_a_removal(design, head):
    weights = (some_weights() > 0).astype(float)
    kept = design.sample(np.flatnonzero(weights))
    precondition = prepare_inverses(head, None, 2**30).precondition
    found = refit(head, weights, precondition)
    np.testing.assert_allclose(found.theta, fit_head(kept, L2, relative_error=1e-9).theta, atol=1e-6)
    twin = PlainProblem(PLAIN_LOSSES[design.loss.name], plain.matrix_of(kept), kept.targets, 3, L2)
    assert found.change == pytest.approx(np.linalg.norm(twin.fit().theta - head.theta), rel=1e-5)
    newton = np.linalg.norm(newton_step(head, weights, precondition).solution)
    assert newton == pytest.approx(twin.newton_length(head.theta), rel=1e-5)


@pytest.mark.parametrize("inverse", [Cholesky(), ConjugateGradients(), Kronecker()], ids=str)
def test_influence_vectors_are_the_formula_for_every_loss(design, head, inverse):
    gradients = plain.residual_of(head)[:, :, None] * plain.matrix_of(design)[:, None, :] + L2 * head.theta
    influence = influence_map(head, inverse)
    vectors = influence.vectors(np.arange(N))
    np.testing.assert_allclose(influence.total(np.ones(N)), 0.0, atol=1e-7)
    np.testing.assert_allclose(influence.norms(), np.linalg.norm(vectors, axis=1), rtol=1e-4)
    if inverse.name == "kronecker":
        return
    solved = np.linalg.solve(head.curvature().hessian(), gradients.reshape(N, -1).T).T / N
    np.testing.assert_allclose(influence.norms(), np.linalg.norm(solved, axis=1), rtol=1e-4)
    removed = some_weights(3) > 0
    total = np.linalg.norm(solved[removed].sum(axis=0))
    assert np.linalg.norm(influence.total(removed.astype(float))) == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("design", ["squared"], indirect=True)
def test_squared_influence_with_the_kept_hessian_is_exact(design, head):
    """The squared loss is quadratic: one Newton step is the refit, for any removal."""
    weights = (some_weights() > 0).astype(float)
    precondition = prepare_inverses(head, None, 2**30).precondition
    step = newton_step(head, weights, precondition).solution[0]
    np.testing.assert_allclose(head.theta + step, refit(head, weights, precondition).theta, atol=1e-7)


def test_curvature_without_coupling_is_block_diagonal(design, head):
    hessian = Curvature(design, head.predicted, 0.0).hessian().reshape(3, D, 3, D)
    off = np.abs(hessian[0, :, 1, :]).max()
    assert (off > 1e-6) == design.loss.coupled


@pytest.mark.parametrize("inverse", [Cholesky(), ConjugateGradients(), LiSSA(depth=20_000, tolerance=1e-10)], ids=str)
def test_whole_weights_are_repeated_rows_for_every_inverse(design, head, inverse):
    counts = np.random.default_rng(1).integers(0, 4, N)
    copies = FittedHead.at(design.sample(np.repeat(np.arange(N), counts)), head.theta, L2)
    rhs = np.random.default_rng(0).normal(size=(2, 3, D))
    weighted = inverse.prepare(head.curvature(counts.astype(float))).solve(rhs).solution
    np.testing.assert_allclose(weighted, inverse.prepare(copies.curvature()).solve(rhs).solution, atol=1e-6)


def test_batches_of_weighted_rows_are_right_on_average(design, head):
    weights = np.where(np.arange(N) % 10 == 0, 50.0, 0.1)
    curvature, stack = head.curvature(weights), np.random.default_rng(0).normal(size=(1, 3, D))
    rng = np.random.default_rng(2)
    mean = np.mean([curvature.batch(64, rng).apply(stack) for _ in range(400)], axis=0)
    exact = curvature.apply(stack)
    assert np.linalg.norm(mean - exact) < 0.1 * np.linalg.norm(exact)
