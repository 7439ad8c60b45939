"""A head whose bias is not penalised; the oracles are loops, finite differences and scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from leanset.data import checked_examples, examples_from
from leanset.head import (
    LOSSES,
    PENALTIES,
    Curvature,
    Design,
    FittedHead,
    Softmax,
    design_of,
    fit_head,
    newton_step,
    refit,
)
from leanset.influence import Cholesky, ConjugateGradients, Kronecker, LiSSA, influence_map, prepare_inverses
from leanset.problem import WeightProblem
from leanset.recheck.plain import PlainProblem
from leanset.recheck.plain_losses import PLAIN_LOSSES
from leanset.rows import MemoryRows
from leanset.solve import solve_weights
from tests import plain
from tests.head.test_losses import targets_of

N, D, L2 = 120, 4, 3e-2
COLUMNS = np.array([L2, L2, L2, 0.0])  # l2 of each column
EXACT = (Cholesky(), ConjugateGradients(), ConjugateGradients(explicit_up_to=0), LiSSA(depth=50_000, tolerance=1e-11))


def design_for(name, outputs=3, n=N, seed=4):
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=(n, D - 1)), np.ones(n)])
    logits = x @ rng.normal(size=(D, outputs)) + np.array([1.0, -0.5, 0.3])[:outputs]
    return Design(MemoryRows(x), targets_of(name, rng, logits), LOSSES[name](outputs), penalise_bias=False)


@pytest.fixture(params=LOSSES)
def design(request):
    return design_for(request.param)


@pytest.fixture
def head(design):
    return FittedHead.at(design, fit_head(design, L2, relative_error=1e-9).theta, L2)


def scikit_learns(features, targets, loss, c, weights=None):
    """Return scikit-learn's weights and intercepts as a (C, d+1) head, with its own default settings but for the accuracy."""

    def logistic(classes):
        model = LogisticRegression(C=c, solver="newton-cholesky", tol=1e-12, max_iter=1000)
        return model.fit(features, classes, sample_weight=weights)

    if loss == "squared":
        model = Ridge(alpha=1 / c).fit(features, targets, sample_weight=weights)
    elif loss == "softmax":
        model = logistic(targets)
    else:
        return np.vstack([np.append(model.coef_, model.intercept_) for model in map(logistic, targets.T)])
    head = np.column_stack([np.atleast_2d(model.coef_), model.intercept_])
    if loss == "softmax" and len(head) == 1:
        head = np.vstack([-head, head]) / 2
    return head - head.mean(axis=0) if loss == "softmax" else head


@pytest.mark.parametrize("outputs", [2, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_fit_is_that_of_scikit_learn_with_its_intercept(loss, outputs):
    design, c = design_for(loss, outputs), 0.2
    x = plain.matrix_of(design)[:, :-1]
    fit = fit_head(design, design.loss.l2_of(c, N))
    np.testing.assert_allclose(fit.theta, scikit_learns(x, design.targets, loss, c), atol=1e-8)
    weights = np.random.default_rng(0).exponential(size=N)
    l2 = design.loss.l2_of(c, weights.sum())
    weighted = fit_head(design, l2, weights=weights).theta
    np.testing.assert_allclose(weighted, scikit_learns(x, design.targets, loss, c, weights), atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_features_of_any_scale_and_offset_are_fitted_as_well(loss):
    """Only the bias depends on where the features lie, so they are centred; the other weights are those of scikit-learn."""
    plain_design = design_for(loss, n=300)
    scale, offset = np.array([1e-2, 1.0, 1e2]), np.array([3.0, 1e3, -4e3])
    features = plain.matrix_of(plain_design)[:, :-1] * scale + offset
    examples = examples_from(features, plain_design.targets, None, plain_design.loss.targets)
    design, _, scaling = design_of(examples, plain_design.loss, standardize=False, penalise_bias=False)
    np.testing.assert_allclose(plain.matrix_of(design)[:, :-1], features - features.mean(axis=0), atol=1e-9)
    found = fit_head(design, L2).theta
    expected = scaling.head_from_raw(
        scikit_learns(features, plain_design.targets, loss, plain_design.loss.l2_of(L2, 300))
    )
    size = np.append(scale, 1.0)  # so that each column counts
    np.testing.assert_allclose(found * size, expected * size, atol=1e-7)


def test_two_classes_have_half_of_scikit_learns_row_each():
    assert Softmax(2).l2_of(0.5, 100) == pytest.approx(2 / (0.5 * 100))
    for loss in (Softmax(3), LOSSES["sigmoid"](2), LOSSES["squared"](2)):
        assert loss.l2_of(0.5, 100) == pytest.approx(1 / (0.5 * 100))


def test_the_objective_and_its_slope_leave_the_bias_out():
    design = design_for("softmax")
    x, labels = plain.matrix_of(design), design.targets
    theta = np.random.default_rng(0).normal(size=(3, D))
    theta[:, -1] -= theta[:, -1].mean()
    assert design.objective(theta, L2) == pytest.approx(plain.objective(theta, x, labels, COLUMNS))
    slope = FittedHead.at(design, theta, L2).mean_gradient(np.ones(N))
    for place in np.ndindex(theta.shape):
        moved = np.zeros_like(theta)
        moved[place] = 1e-5
        ends = [plain.objective(theta + sign * moved, x, labels, COLUMNS) for sign in (1, -1)]
        assert slope[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-8)


def test_the_hessian_is_the_derivative_of_the_slope(design):
    theta = np.random.default_rng(0).normal(size=(3, D))

    def slope(at):
        return FittedHead.at(design, at, L2).mean_gradient(np.ones(N)).ravel()

    hessian = Curvature(design, design.predicted(theta), L2).hessian()
    for k, row in enumerate(np.eye(theta.size)):
        moved = 1e-5 * row.reshape(theta.shape)
        np.testing.assert_allclose(hessian[k], (slope(theta + moved) - slope(theta - moved)) / 2e-5, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_hessian_in_all_its_forms(head, weighted):
    weights = np.random.default_rng(0).exponential(size=N) if weighted else None
    curvature, rng = head.curvature(weights), np.random.default_rng(1)
    matrix, stack = curvature.hessian(), rng.normal(size=(4, *head.theta.shape))
    assert np.linalg.eigvalsh(matrix).min() > 1e-3
    np.testing.assert_allclose(curvature.apply(stack).reshape(4, -1), stack.reshape(4, -1) @ matrix, atol=1e-12)
    factors = curvature.kronecker()
    basis = np.kron(factors.output_basis, factors.feature_basis)
    np.testing.assert_allclose(factors.eigenvalues.ravel(), np.diag(basis.T @ matrix @ basis), rtol=1e-9)
    assert (factors.eigenvalues > 0).all()


def test_what_holds_the_biases_of_a_softmax_changes_no_answer():
    """The exact Hessian is singular along equal biases; on everything else the answers are those of its pseudo-inverse."""
    design = design_for("softmax")
    head = FittedHead.at(design, fit_head(design, L2, relative_error=1e-10).theta, L2)
    exact = plain.hessian(head.theta, plain.matrix_of(design), COLUMNS)
    held = np.zeros_like(head.theta)
    held[:, -1] = 1.0
    np.testing.assert_allclose(exact @ held.ravel(), 0.0, atol=1e-12)
    assert abs(head.theta[:, -1].sum()) < 1e-12
    rhs = head.gradients(np.arange(8)) + head.penalty_slope
    expected = rhs.reshape(8, -1) @ np.linalg.pinv(exact, rcond=1e-10)
    for inverse in EXACT:
        found = inverse.prepare(head.curvature()).solve(rhs)
        np.testing.assert_allclose(found.solution.reshape(8, -1), expected, atol=1e-6)
        np.testing.assert_allclose(found.solution[:, :, -1].sum(axis=1), 0.0, atol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("inverse", [Cholesky(), ConjugateGradients(), Kronecker()], ids=str)
def test_influence_vectors_are_the_formula(head, inverse, penalty):
    centred = PENALTIES[penalty].centred
    slope = COLUMNS * head.theta if centred else 0.0
    gradients = plain.residual_of(head)[:, :, None] * plain.matrix_of(head.design)[:, None, :] + slope
    influence = influence_map(head, inverse, centred=centred)
    np.testing.assert_allclose(influence.norms(), np.linalg.norm(influence.vectors(np.arange(N)), axis=1), rtol=1e-4)
    if centred:
        np.testing.assert_allclose(influence.total(np.ones(N)), 0.0, atol=1e-7)
    if inverse.name != "kronecker":
        solved = np.linalg.solve(head.curvature().hessian(), gradients.reshape(N, -1).T).T / N
        np.testing.assert_allclose(influence.norms(), np.linalg.norm(solved, axis=1), rtol=1e-4)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_refits_and_newton_steps_agree_with_the_plain_twin(head, penalty):
    head, rng = replace(head, penalty=PENALTIES[penalty]), np.random.default_rng(0)
    weights = rng.exponential(size=N) * (rng.random(N) < 0.7)
    precondition = prepare_inverses(head, None, 2**30).precondition
    x, kept = plain.matrix_of(head.design), weights > 0
    full = PlainProblem(PLAIN_LOSSES[head.loss.name], x, head.design.targets, 3, L2, penalise_bias=False)
    twin = full.part(kept, head.l2_on(weights), weights[kept])
    found = refit(head, weights, precondition)
    np.testing.assert_allclose(found.theta, twin.fit().theta, atol=1e-6)
    newton = np.linalg.norm(newton_step(head, weights, precondition).solution)
    assert newton == pytest.approx(twin.newton_length(head.theta), rel=1e-5)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_balance_the_penalty_without_the_bias(loss, penalty):
    n, design = 400, design_for(loss, n=400)
    head = FittedHead.at(design, fit_head(design, L2).theta, L2, PENALTIES[penalty])
    kept = np.random.default_rng(0).random(n) < 0.6
    found = solve_weights(WeightProblem(head, kept.astype(float), 0.05, 20.0))
    assert found.exact
    gradients = (plain.residual_of(head)[:, :, None] * plain.matrix_of(head.design)[:, None, :]).reshape(n, -1)
    worth = found.values.sum() if head.penalty.centred else n
    missing = found.values @ gradients + worth * (COLUMNS * head.theta).ravel()
    np.testing.assert_allclose(missing, 0.0, atol=1e-9)


@pytest.mark.parametrize("l2", [1e-5, 1e-2, 10.0])
def test_the_error_of_a_fit_is_no_larger_than_it_says(design, l2):
    found, best = fit_head(design, l2), fit_head(design, l2, relative_error=1e-13)
    assert found.error_bound <= 1e-7 * np.linalg.norm(found.theta)
    assert np.linalg.norm(found.theta - best.theta) <= found.error_bound + 1e-13
    rough = fit_head(design, l2, relative_error=1e-2)
    assert np.linalg.norm(rough.theta - best.theta) <= rough.error_bound


def test_a_fit_that_starts_at_the_minimum_says_how_near_it_is(design):
    best = fit_head(design, L2, relative_error=1e-12).theta
    again = fit_head(design, L2, start=best)
    assert again.error_bound <= 1e-12 * np.linalg.norm(best)
    np.testing.assert_allclose(again.theta, best, atol=1e-12)


def test_the_biases_of_a_given_head_are_settled():
    design = design_for("softmax")
    fit, start = fit_head(design, L2), np.random.default_rng(1).normal(size=(3, D))
    settled = design.ridge(L2).settled(start)
    np.testing.assert_allclose(settled[:, :-1], start[:, :-1])
    assert settled[:, -1].sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(design.predicted(settled), design.predicted(start), rtol=1e-12)
    for theta in (start, settled):
        np.testing.assert_allclose(fit_head(design, L2, start=theta).theta, fit.theta, atol=1e-7)
    everything = replace(design, penalise_bias=True).ridge(L2)
    np.testing.assert_array_equal(everything.settled(start), start)


def test_a_class_that_the_warm_start_does_not_see_is_fitted_too():
    rng = np.random.default_rng(0)
    labels = (rng.random(17_000) < 0.5).astype(int)
    labels[[3, 11, 20]] = 2  # no multiple of eight
    features = rng.normal(size=(17_000, 2)) + np.eye(3, 2)[labels]
    design, _, _ = design_of(checked_examples(features, labels), Softmax(3), standardize=False, penalise_bias=False)
    theta = fit_head(design, 1e-3).theta
    np.testing.assert_allclose(design.predicted(theta).mean(axis=0), np.bincount(labels) / 17_000, rtol=1e-6)
