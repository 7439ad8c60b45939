import numpy as np
import pytest

from leanset.certify import predictions
from leanset.data import checked_examples
from leanset.head import Design, FittedHead, Softmax, design_of, fit_head
from leanset.influence import Cholesky, ConjugateGradients, prepare_inverses
from leanset.rows import MemoryRows
from tests import plain

L2 = 1e-2
RULES = ("published", "centred", "newton", "refit")


@pytest.fixture
def ground(toy):
    design, validation, _ = design_of(checked_examples(*toy[:2], toy[2]), Softmax(3), standardize=True)
    state = FittedHead.at(design, fit_head(design, L2, relative_error=1e-10).theta, L2)
    return state, validation


def some_removed(n, count, seed=0):
    removed = np.zeros(n, dtype=bool)
    removed[np.random.default_rng(seed).permutation(n)[:count]] = True
    return removed


def by_rule(state, removed, validation, inverse=None):
    inverses = prepare_inverses(state, inverse or Cholesky(), 2**30)
    said = predictions(state, removed, inverses, validation)
    assert tuple(prediction.rule for prediction in said) == RULES
    return {prediction.rule: prediction for prediction in said}


def plain_changes(state, removed):
    x, y, theta = plain.matrix_of(state.design), state.design.targets, state.theta
    n, kept, gone = len(x), (~removed).sum(), plain.gradients(state.theta, x[removed], y[removed])
    h, kept_h = plain.hessian(theta, x, L2), plain.hessian(theta, x[~removed], L2)
    centred = (gone + L2 * theta).sum(axis=0).ravel()
    flat = {
        "published": np.linalg.solve(h, gone.sum(axis=0).ravel()) / n,
        "centred": np.linalg.solve(h, centred) / n * (n / kept),
        "newton": np.linalg.solve(kept_h, centred) / kept,
        "refit": (plain.fit(x[~removed], y[~removed], 3, L2) - theta).ravel(),
    }
    return {rule: change.reshape(theta.shape) for rule, change in flat.items()}


def plain_loss(design, theta):
    return plain.objective(theta, plain.matrix_of(design), design.targets, 0.0)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_its_formula(ground, rule):
    state, validation = ground
    removed = some_removed(240, 90)
    said, change = by_rule(state, removed, validation)[rule], plain_changes(state, removed)[rule]
    assert said.change == pytest.approx(np.linalg.norm(change), rel=1e-5)
    # A step the wrong way has the same length, so it is the gap that settles the signs.
    gap = plain_loss(validation, state.theta + change) - plain_loss(validation, state.theta)
    assert said.gap == pytest.approx(gap, rel=1e-4)
    assert plain_loss(validation, state.theta - change) - plain_loss(validation, state.theta) != pytest.approx(
        gap, rel=1e-2
    )


def test_bound_is_gradient_norm_times_change(ground):
    state, validation = ground
    slope = plain.gradients(state.theta, plain.matrix_of(validation), validation.targets).mean(axis=0)
    for said in by_rule(state, some_removed(240, 60), validation).values():
        assert said.bound == pytest.approx(np.linalg.norm(slope) * said.change)


def test_each_rule_foresees_the_refit_better_than_the_one_before(ground):
    state, validation = ground
    drawn = [by_rule(state, some_removed(240, 60, seed), validation) for seed in range(20)]
    for quantity in ("change", "gap"):
        error = {
            rule: np.mean([abs(getattr(said[rule], quantity) - getattr(said["refit"], quantity)) for said in drawn])
            for rule in RULES
        }
        assert error["newton"] < error["centred"] < error["published"]
    for said in drawn:
        assert said["newton"].change == pytest.approx(said["refit"].change, rel=0.1)


def tiled(state, copies):
    # Copies leave the minimum and the Hessian as they are, so that only the removed share m/n = 24/(240·copies) falls.
    design = Design(
        MemoryRows(np.tile(plain.matrix_of(state.design), (copies, 1))),
        np.tile(state.design.targets, copies),
        Softmax(3),
    )
    theta = fit_head(design, L2, start=state.theta, relative_error=1e-10).theta
    return FittedHead.at(design, theta, L2)


def removed_in_first_copy(copies):
    return np.concatenate([some_removed(240, 24), np.zeros(240 * (copies - 1), dtype=bool)])


def test_all_but_the_paper_agree_with_the_refit_as_the_removed_share_falls(ground):
    state, validation = ground
    few, many = (
        by_rule(tiled(state, copies), removed_in_first_copy(copies), validation, ConjugateGradients())
        for copies in (8, 16)
    )

    def fall(rule, quantity, limit=1.0):
        few_off, many_off = (
            getattr(said[rule], quantity) / getattr(said["refit"], quantity) - limit for said in (few, many)
        )
        return few_off / many_off

    for rule in ("centred", "newton"):
        # Changes and gaps are of first order in the share and agree to second: the relative error halves with the share.
        assert fall(rule, "change") == pytest.approx(2, rel=0.1)
        assert fall(rule, "gap") == pytest.approx(2, rel=0.1)
    # The published sum lacks λθ̂ once for every removed row, so its ratio to the refit tends to another limit than 1.
    changes = plain_changes(state, removed_in_first_copy(1))
    paper, centred = np.linalg.norm(changes["published"]), np.linalg.norm(changes["centred"]) * (240 - 24) / 240
    assert fall("published", "change", limit=paper / centred) == pytest.approx(2, rel=0.1)
    assert abs(many["published"].gap / many["refit"].gap - 1) > 10 * abs(many["centred"].gap / many["refit"].gap - 1)


def test_without_a_penalty_share_the_paper_lacks_nothing_but_the_rescaling(ground):
    state, validation = ground
    removed = some_removed(240, 90)
    centred_at_zero = FittedHead(state.design, np.zeros_like(state.theta), L2, state.predicted)
    said = by_rule(centred_at_zero, removed, validation)  # λθ is 0 at θ = 0
    assert said["centred"].change == pytest.approx(said["published"].change * 240 / 150)


def test_removing_nothing_is_predicted_to_do_nothing(ground):
    state, validation = ground
    for said in by_rule(state, np.zeros(240, dtype=bool), validation).values():
        assert (said.change, said.gap, said.bound) == pytest.approx((0, 0, 0), abs=1e-7)


def test_removing_everything_is_refused(ground):
    state, validation = ground
    with pytest.raises(ValueError, match="`removed` contains all 240 rows"):
        by_rule(state, np.ones(240, dtype=bool), validation)
