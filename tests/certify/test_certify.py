import numpy as np
import pytest

from leanset.certify import loss_gap_bounds, quality_on
from leanset.data import checked_examples
from leanset.head import FittedHead, Softmax, design_of, fit_head, newton_step, refit
from leanset.influence import preconditioner
from tests import plain

L2 = 1e-2


@pytest.fixture
def ground(toy):
    design, validation, _ = design_of(checked_examples(*toy[:2], toy[2]), Softmax(3), standardize=True)
    state = FittedHead.at(design, fit_head(design, L2).theta, L2)
    removed = np.zeros(240, dtype=bool)
    removed[np.random.default_rng(0).permutation(240)[:90]] = True
    return state, validation, removed


def test_refit_is_the_minimiser_on_the_kept_rows(ground):
    state, _, removed = ground
    measurement = refit(state, 1.0 - removed, preconditioner(state, 2**30))
    oracle = plain.fit(plain.matrix_of(state.design)[~removed], state.design.targets[~removed], 3, L2)
    np.testing.assert_allclose(measurement.theta, oracle, atol=1e-7)
    assert measurement.change == pytest.approx(np.linalg.norm(oracle - state.theta), rel=1e-6)


def test_newton_step_is_the_formula(ground):
    state, _, removed = ground
    h = plain.hessian(state.theta, plain.matrix_of(state.design)[~removed], L2)
    centred = (
        plain.gradients(state.theta, plain.matrix_of(state.design)[removed], state.design.targets[removed])
        + L2 * state.theta
    )
    expected = np.linalg.solve(h, centred.sum(axis=0).ravel()) / (~removed).sum()
    step = newton_step(state, 1.0 - removed, preconditioner(state, 2**30))
    np.testing.assert_allclose(step.solution.ravel(), expected, atol=1e-6 * np.abs(expected).max() + 1e-9)


def test_a_crude_preconditioner_changes_the_effort_not_the_answer(ground):
    state, _, removed = ground
    good, crude = (
        refit(state, 1.0 - removed, preconditioner(state, 2**30)),
        refit(state, 1.0 - removed, preconditioner(state, 0)),
    )
    assert good.change == pytest.approx(crude.change, rel=1e-6)


def test_gap_is_the_paired_mean_with_its_t_interval(ground):
    state, validation, removed = ground
    after = refit(state, 1.0 - removed, preconditioner(state, 2**30)).theta
    quality = quality_on(validation, state.theta, after)
    gap = quality.loss_gap
    each = [
        np.log(plain.softmax(state.theta @ x)[y]) - np.log(plain.softmax(after @ x)[y])
        for x, y in zip(plain.matrix_of(validation), validation.targets, strict=True)
    ]
    assert gap.mean == pytest.approx(np.mean(each))
    half = 1.9801 * np.std(each, ddof=1) / np.sqrt(120)  # Student's t, 119 degrees of freedom
    assert gap.high - gap.mean == pytest.approx(half, rel=1e-3)
    assert gap.low < gap.mean < gap.high
    before, lean = (
        np.array([np.argmax(theta @ x) for x in plain.matrix_of(validation)]) for theta in (state.theta, after)
    )
    assert quality.same_answers == np.mean(before == lean)
    assert quality.accuracy == np.mean(before == validation.targets)
    right = (lean == validation.targets).astype(float) - (before == validation.targets)
    assert quality.accuracy_change.mean == pytest.approx(right.mean())
    assert quality.accuracy_change.high - right.mean() == pytest.approx(
        1.9801 * right.std(ddof=1) / np.sqrt(120), rel=1e-3
    )


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
def test_bounds_bound_every_move(ground, size):
    state, validation, _ = ground
    for seed in range(20):
        change = size * np.random.default_rng(seed).normal(size=state.theta.shape)
        first, second = loss_gap_bounds(validation, state.theta, change)
        assert quality_on(validation, state.theta, state.theta + change).loss_gap.mean <= first + second + 1e-12


def test_second_order_bound_dominates_the_true_quadratic(ground):
    state, validation, _ = ground
    change = np.random.default_rng(0).normal(size=state.theta.shape)
    h = plain.hessian(state.theta, plain.matrix_of(validation), 0.0)
    quadratic = 0.5 * change.ravel() @ h @ change.ravel()
    assert quadratic <= loss_gap_bounds(validation, state.theta, change)[1]
