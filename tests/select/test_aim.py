"""What a search minimises: ‖Δθ‖, or the rise of the loss where too few examples are kept."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import leanset
from leanset import InputError, Outcome
from leanset._rng import stream
from leanset.data import checked_examples
from leanset.head import FittedHead, Softmax, design_of, fit_head
from leanset.influence import Cholesky, Kronecker, influence_map
from leanset.problem import Removal
from leanset.select import held_out
from leanset.select.aim import LowLoss, SameParameters, aim_for
from tests import plain

L2 = 1e-2
QUICK = {"l2": L2, "frontier": False}


@pytest.fixture
def head(toy):
    design, _, _ = design_of(checked_examples(*toy[:2]), Softmax(3), standardize=True)
    return FittedHead.at(design, fit_head(design, L2).theta, L2)


def test_vectors_in_the_loss_metric_have_the_length_of_the_rise(head):
    """Removing one row moves the head by H⁻¹g/n; twice the rise of the objective is ΔᵀHΔ."""
    x = plain.matrix_of(head.design)
    hessian = plain.hessian(head.theta, x, L2)
    gradients = plain.gradients(head.theta, x, head.design.targets).reshape(len(x), -1)
    moves = np.linalg.solve(hessian, gradients.T).T / len(x)
    expected = np.einsum("ij,jk,ik->i", moves, hessian, moves)
    found = influence_map(head, Cholesky(), centred=False, measured_by=head)
    np.testing.assert_allclose(np.sum(found.vectors(np.arange(len(x))) ** 2, axis=1), expected, rtol=1e-4)
    some = np.arange(len(x)) < 50
    np.testing.assert_allclose(
        found.total(some.astype(float)), found.vectors(np.flatnonzero(some)).sum(axis=0), atol=1e-6
    )
    change = moves[:7].sum(axis=0)
    assert np.sum(found.coordinates(change.reshape(head.theta.shape)) ** 2) == pytest.approx(
        change @ hessian @ change, rel=1e-6
    )


def test_kronecker_vectors_in_the_loss_metric_use_the_square_root_of_its_eigenvalues(head):
    found, factors = influence_map(head, Kronecker(), centred=False, measured_by=head), head.kronecker
    gradients = head.gradients(np.arange(5))
    expected = np.sum(factors.turned(gradients) ** 2 / factors.eigenvalues, axis=(1, 2)) / len(head) ** 2
    np.testing.assert_allclose(np.sum(found.vectors(np.arange(5)) ** 2, axis=1), expected, rtol=1e-4)
    np.testing.assert_allclose(found.norms()[:5] ** 2, expected, rtol=1e-6)
    change = np.random.default_rng(0).normal(size=head.theta.shape)
    length = np.sum(factors.turned(change) ** 2 * factors.eigenvalues)
    assert np.sum(found.coordinates(change) ** 2) == pytest.approx(length)


def test_the_aim_follows_from_the_number_kept(head):
    assert head.free_weights == 2 * head.design.shape[1]
    assert isinstance(aim_for(None, head, 3 * head.free_weights), SameParameters)
    assert isinstance(aim_for(None, head, 3 * head.free_weights - 1), LowLoss)
    assert isinstance(aim_for("parameters", head, 3), SameParameters)
    assert isinstance(aim_for("loss", head, 10**6), LowLoss)


def test_the_objective_rises_by_what_the_certificate_says(toy):
    features, labels, _ = toy
    result = leanset.prune(features, labels, fraction=0.9, minimise="loss", **QUICK)
    x = plain.design(features)
    full, lean = plain.fit(x, labels, 3, L2), plain.fit(x[result.kept], labels[result.kept], 3, L2 * 10)
    losses = [
        np.mean([-np.log(plain.softmax(theta @ row)[y]) for row, y in zip(x, labels, strict=True)])
        for theta in (full, lean)
    ]
    assert result.certificate.training_loss_gap == pytest.approx(losses[1] - losses[0], abs=1e-5)
    assert result.certificate.minimised == "loss"
    assert "LS112" in [finding.code for finding in result.certificate.findings]


def test_each_aim_is_better_at_what_it_aims_at():
    features, labels = load_digits(return_X_y=True)
    found = {
        aim: leanset.prune(
            features[:900], labels[:900], fraction=0.9, minimise=aim, l2=1e-3, frontier=False
        ).certificate
        for aim in ("parameters", "loss")
    }
    assert found["loss"].training_loss_gap < found["parameters"].training_loss_gap
    assert found["parameters"].refit_change < found["loss"].refit_change
    assert found["loss"].training_loss_gap < found["loss"].random_training_loss_gap / 1.5


def test_the_search_is_never_worse_than_its_starts(toy):
    """On noisy data, keeping the loudest examples is a disaster, and the search must not go there."""
    features, labels, _ = toy
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(240) < 0.3, rng.integers(0, 3, 240), labels)
    x = plain.design(features)
    full = plain.fit(x, noisy, 3, L2)

    def rise(kept):
        theta = plain.fit(x[kept], noisy[kept], 3, L2 * 240 / len(kept))
        losses = [
            np.mean([-np.log(plain.softmax(h @ row)[y]) for row, y in zip(x, noisy, strict=True)])
            for h in (theta, full)
        ]
        return losses[0] - losses[1] + 0.5 * L2 * (np.sum(theta**2) - np.sum(full**2))

    for fraction in (0.4, 0.8):
        result = leanset.prune(features, noisy, fraction=fraction, minimise="loss", class_balance="none", **QUICK)
        loudest = np.argsort(result.influence_norm)[round(fraction * 240) :]
        drawn = stream(0, "start", round(fraction * 240)).permutation(240)[round(fraction * 240) :]
        assert rise(result.kept) <= min(rise(loudest), rise(drawn)) + 1e-9
        assert rise(loudest) > 3 * rise(result.kept)


def test_a_random_set_is_the_answer_where_no_other_proves_itself(toy, monkeypatch):
    features, labels, _ = toy
    monkeypatch.setattr("leanset.select.newton.does_better", lambda task, challenger, holder: True)
    monkeypatch.setattr("leanset.select.newton._FAR_BETTER", 0.0)
    result = leanset.prune(features, labels, fraction=0.5, **QUICK)
    assert result.certificate.outcome == Outcome.random.value
    chosen = leanset.prune(features, labels, fraction=0.5, minimise="parameters", **QUICK)
    assert chosen.certificate.outcome != Outcome.random.value


def test_held_out_rows_tell_a_good_set_from_a_bad_one(toy):
    from leanset._progress import Silent
    from leanset.fitting import fitted_task
    from leanset.inputs import inputs_from, opened
    from leanset.plan import plan_for
    from leanset.select.held_out import does_better

    settings = leanset.Settings(fraction=0.5, **QUICK)
    inputs = inputs_from(opened(*toy[:2], settings, Silent()), settings)
    plan = plan_for(settings, inputs.outline())
    task, *_ = fitted_task(inputs, plan, None, Silent())
    search = plan.strategy.begin(task)
    good = search._refitted(Removal(task.constraints.random_removal(60, np.random.default_rng(0)), Outcome.random))
    sure = np.argsort(plain.residual_of(task.head)[np.arange(240), task.head.design.targets])  # the worst fitted first
    bad = np.ones(240, dtype=bool)
    bad[sure[:40]] = False
    bad = search._refitted(Removal(bad, Outcome.random))
    assert does_better(task, good, bad)
    assert not does_better(task, bad, good)
    assert not does_better(task, good, good)


def test_an_aim_is_refused_where_there_is_no_search(toy):
    with pytest.raises(InputError, match=r"`method='el2n'` does not search, so `minimise='loss'` does not apply"):
        leanset.prune(*toy[:2], fraction=0.4, method="el2n", minimise="loss")
    with pytest.raises(InputError, match=r"minimises ‖Δθ‖ as published"):
        leanset.prune(*toy[:2], fraction=0.4, formulation="paper", minimise="loss")
    with pytest.raises(InputError, match=r"`minimise='speed'` must be"):
        leanset.prune(*toy[:2], fraction=0.4, minimise="speed")


def test_a_part_that_holds_out_all_that_is_kept_is_no_evidence(toy, monkeypatch):  # it once was a division by zero
    monkeypatch.setattr(held_out, "_folds", lambda n, rng: [np.ones(n, dtype=bool)])
    result = leanset.prune(*toy[:2], keep=6, l2=1e-2, frontier=False)
    assert len(result.kept) == 6
