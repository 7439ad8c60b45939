"""Weights on the kept examples: the same head from a part of the data."""

import csv
import json
import re
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import brentq, lsq_linear
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from typer.testing import CliRunner

import leanset
from leanset import InputError
from leanset.cli.app import app
from leanset.data import checked_examples
from leanset.head import LOSSES, PENALTIES, Design, FittedHead, design_of, fit_head
from leanset.problem import Constraints, Outcome, WeightProblem
from leanset.report import summary_rows, verdict
from leanset.rows import MemoryRows
from leanset.select.weighted import sampled
from leanset.solve import solve_weights
from leanset.solve import weights as weights_module
from tests import plain
from tests.head.test_losses import targets_of
from tests.select.test_by_score import recorded
from tests.test_losses import problem

L2 = 1e-2
QUICK = {"frontier": False, "l2": L2}


def head_of(loss="softmax", penalty="total", n=300):
    rng = np.random.default_rng(4)
    x = np.column_stack([rng.normal(size=(n, 3)), np.ones(n)])
    design = Design(MemoryRows(x), targets_of(loss, rng, x @ rng.normal(size=(4, 3))), LOSSES[loss](3))
    theta = fit_head(design, L2, relative_error=1e-10).theta
    return FittedHead.at(design, theta, L2, PENALTIES[penalty])


def equations(head):
    """The gradients that the weights multiply, and the sum that they must have, written out."""
    x = plain.matrix_of(head.design)
    v = (plain.residual_of(head)[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    if head.penalty.centred:
        return v + L2 * head.theta.ravel(), np.zeros(v.shape[1])
    return v, -len(x) * L2 * head.theta.ravel()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_weights_solve_the_equations_and_are_the_nearest_to_one(loss, penalty):
    head = head_of(loss, penalty)
    kept = np.random.default_rng(0).random(300) < 0.5
    found = solve_weights(WeightProblem(head, kept.astype(float), 0.05, 20.0))
    assert found.exact
    v, target = equations(head)
    np.testing.assert_allclose(found.values @ v, target, atol=1e-9 * np.abs(v).sum())
    assert not found.values[~kept].any()
    w = found.values[kept]
    assert (w >= 0.05 - 1e-12).all()
    assert (w <= 20 + 1e-12).all()
    if (w > 0.051).all() and (w < 19.9).all():  # no bound in the way: the solution of least norm of w − 1
        nearest = 1 + np.linalg.lstsq(v[kept].T, target - v[kept].sum(axis=0), rcond=None)[0]
        np.testing.assert_allclose(w, nearest, atol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_where_no_weights_are_exact_the_misfit_is_nearly_least_in_the_metric_of_the_loss(penalty):
    head = head_of(penalty=penalty)
    kept = np.zeros(300, dtype=bool)
    kept[np.random.default_rng(1).permutation(300)[:12]] = True
    found = solve_weights(WeightProblem(head, kept.astype(float), 0.5, 2.0))
    assert not found.exact
    v, target = equations(head)
    root = np.linalg.cholesky(np.linalg.inv(head.curvature().hessian()))
    oracle = lsq_linear((v[kept] @ root).T, target @ root, bounds=(0.5, 2.0), tol=1e-12)
    misfit = np.linalg.norm((found.values @ v - target) @ root)
    assert misfit <= 1.05 * np.linalg.norm(oracle.fun) + 1e-9


def test_large_heads_are_weighed_by_gradients_nearly_as_well(monkeypatch):
    head = head_of()
    kept = np.zeros(300, dtype=bool)
    kept[np.random.default_rng(1).permutation(300)[:12]] = True
    exact = solve_weights(WeightProblem(head, kept.astype(float), 0.5, 2.0))
    monkeypatch.setattr(weights_module, "_EXPLICIT_UP_TO", 0)
    rough = solve_weights(WeightProblem(head, kept.astype(float), 0.5, 2.0))
    v, target = equations(head)
    root = np.linalg.cholesky(np.linalg.inv(head.curvature().hessian()))
    fine, coarse = (np.linalg.norm((found.values @ v - target) @ root) for found in (exact, rough))
    even = np.linalg.norm((kept @ v - target) @ root)
    assert coarse <= fine + 0.2 * (even - fine)


@pytest.mark.parametrize("lowest", [0.003, 0.2, 0.7, 1.0, 3.0])
def test_a_search_along_a_step_ends_shortly_before_the_lowest_point(lowest):
    kinks = np.linspace(
        0.0, 2 * lowest, 21
    )  # a convex function of straight and bent pieces, as factors reach their bounds

    def slope_at(length):
        return float(np.clip(length - kinks, -0.5, 0.5).sum())

    root = brentq(slope_at, -10, 10)
    found = weights_module._lowest(slope_at, 0.0)
    assert 0.0 < found <= min(1.0, root)
    assert found == 1.0 or slope_at(found) >= 0.1 * slope_at(0.0)


def test_a_search_goes_nowhere_where_a_function_does_not_fall():
    assert weights_module._lowest(lambda length: length, 0.0) == 0.0
    assert weights_module._lowest(lambda length: -1e-16, 1e-15) == 0.0


def test_weights_that_solve_the_equations_do_so_to_rounding():
    """A search along a step sees nothing below the root of rounding; the whole step that is then left was once not taken."""
    x, y = make_classification(20_000, 30, n_informative=12, n_classes=5, flip_y=0.1, random_state=3)
    design, _, _ = design_of(checked_examples(x, y), LOSSES["softmax"](5), standardize=True)
    head = FittedHead.at(design, fit_head(design, 0.08, relative_error=1e-11).theta, 0.08, PENALTIES["total"])
    base = np.where(np.random.default_rng(0).random(20_000) < 0.2, 5.0, 0.0)
    found = solve_weights(WeightProblem(head, base, 0.2, 5.0))
    assert found.exact
    assert found.error < 2e-13


def test_weights_take_one_pass_a_step_however_long_the_search_along_it(monkeypatch):
    passes = Counter()
    for name in ("along", "missing", "normal_matrix"):
        plain_one = getattr(WeightProblem, name)
        counted = lambda self, argument, name=name, inner=plain_one: passes.update([name]) or inner(self, argument)  # noqa: E731
        monkeypatch.setattr(WeightProblem, name, counted)
    kept = (np.arange(300) % 3 == 0).astype(float)
    solve_weights(WeightProblem(head_of(), kept, 0.2, 5.0))
    stages = passes["missing"] - passes["normal_matrix"]
    assert passes["along"] <= passes["normal_matrix"] + 2 * stages


@pytest.mark.parametrize("loss", LOSSES)
def test_scikit_learn_with_the_weights_finds_the_same_coefficients(loss):
    features, targets, _ = problem(loss)
    c = 1 / (400 * L2)
    options = {"C": c, "penalise_bias": True, "standardize": True, "loss": loss, "frontier": False}
    result = leanset.prune(features, targets, fraction=0.6, weights=True, **options)
    assert result.certificate.outcome == Outcome.same_head.value
    assert result.certificate.refit_change <= 1e-6 * result.certificate.head_norm
    x, kept, w = plain.design(features), result.kept, result.weights

    def fit(rows, weights):
        if loss == "squared":
            return Ridge(alpha=1 / c, fit_intercept=False).fit(x[rows], targets[rows], sample_weight=weights).coef_
        model = LogisticRegression(C=c, fit_intercept=False, tol=1e-10, max_iter=10_000)
        if loss == "softmax":
            return model.fit(x[rows], targets[rows], sample_weight=weights).coef_
        return np.vstack([model.fit(x[rows], targets[rows, k], sample_weight=weights).coef_ for k in range(3)])

    np.testing.assert_allclose(fit(kept, w), fit(np.arange(400), None), atol=1e-5)


def test_the_mean_penalty_has_lossless_weights_too(toy):
    result = leanset.prune(*toy[:2], fraction=0.5, weights=True, penalty="mean", **QUICK)
    x, labels = plain.design(toy[0]), np.asarray(toy[1])
    twin = leanset.recheck.plain.PlainProblem(
        leanset.recheck.plain_losses.PLAIN_LOSSES["softmax"], x[result.kept], labels[result.kept], 3, L2, result.weights
    )
    np.testing.assert_allclose(twin.fit().theta, plain.fit(x, labels, 3, L2), atol=1e-5)
    assert result.train_l2 == L2


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("fraction", [0.5, 0.95])
def test_weighted_runs_are_saved_loaded_and_re_checked(toy, tmp_path, penalty, fraction):
    options = {"fraction": fraction, "weights": True, "penalty": penalty, "validation": toy[2], **QUICK}
    result = leanset.prune(*toy[:2], out=tmp_path / "run", **options)

    def failed():
        checks = leanset.verify(tmp_path / "run", *toy[:2], validation=toy[2])
        return [check.name for check in checks if not check.holds]

    assert failed() == []
    again = leanset.load(tmp_path / "run")
    np.testing.assert_array_equal(again.weights, result.weights)
    assert again.certificate == result.certificate
    with (tmp_path / "run" / "kept.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["row"]) for row in rows] == result.kept.tolist()
    np.testing.assert_allclose([float(row["weight"]) for row in rows], result.weights)
    honest = json.loads((tmp_path / "run" / "certificate.json").read_text())
    (tmp_path / "run" / "certificate.json").write_text(json.dumps(honest | {"largest_weight": 1.0}))
    assert "weights" in failed()
    (tmp_path / "run" / "certificate.json").write_text(
        json.dumps(honest | {"refit_change": honest["refit_change"] + 1})
    )
    assert "measured change" in failed()


def test_the_same_model_from_the_fewest_examples(toy, tmp_path):
    result = leanset.prune(*toy[:2], same_model=True, penalty="total", out=tmp_path / "run", **QUICK)
    certificate = result.certificate
    assert certificate.refit_change <= 1e-6 * certificate.head_norm
    enough = 2 * 6 + 1  # (C − 1)·D + 1 always suffice, with weights of any size
    assert enough - 1 <= len(result.kept) < 120
    checks = leanset.verify(tmp_path / "run", *toy[:2])
    assert [check.name for check in checks if not check.holds] == []


def test_an_interrupted_weighted_run_gives_the_same_weights(toy, tmp_path, monkeypatch):
    from leanset import pruning

    options = {"fraction": 0.5, "weights": True, "out": tmp_path / "run", **QUICK}

    def stop(*arguments, **given):
        raise KeyboardInterrupt

    monkeypatch.setattr(pruning, "issue_certificate", stop)
    with pytest.raises(KeyboardInterrupt):
        leanset.prune(*toy[:2], **options)
    monkeypatch.undo()
    resumed, fresh = leanset.prune(*toy[:2], **options), leanset.prune(*toy[:2], fraction=0.5, weights=True, **QUICK)
    np.testing.assert_array_equal(resumed.weights, fresh.weights)
    assert resumed.certificate == fresh.certificate


def test_constraints_hold_with_weights(toy):
    features, labels, _ = toy
    pinned = [0, 5, 17]
    for balance in ("proportional", "none", 20):
        result = leanset.prune(
            features, labels, fraction=0.7, weights=True, class_balance=balance, pinned=pinned, **QUICK
        )
        assert len(result.removed) == 168
        assert set(pinned) <= set(result.kept.tolist())
        left = np.bincount(labels[result.kept], minlength=3)
        assert left.min() >= (20 if balance == 20 else 1)


def test_without_weights_every_kept_example_counts_one(toy):
    result = leanset.prune(*toy[:2], fraction=0.5, **QUICK)
    assert (result.weights == 1).all()
    assert (result.certificate.weighted, result.certificate.effective_size) == (False, 120)


def test_samples_keep_their_share_and_their_sums_on_average():
    rng = np.random.default_rng(0)
    groups, norms = np.arange(600) % 3, rng.exponential(size=600) ** 2
    rules = Constraints(groups, 3, np.arange(600) < 5, proportional=True)
    totals = []
    for seed in range(300):
        base = sampled(norms, rules, 400, np.random.default_rng(seed))
        assert (base > 0).sum() == 200
        assert (base[:5] == 1).all()
        np.testing.assert_array_equal(np.bincount(groups[base == 0]), rules.quotas(400))
        totals.append(base @ norms)
    assert np.mean(totals) == pytest.approx(norms.sum(), rel=0.02)


def test_the_command_line_writes_weights(toy_npz, tmp_path):
    words = ["prune", str(toy_npz), "--fraction", "0.6", "--weights", "--penalty", "total", "--l2", "0.01"]
    done = CliRunner().invoke(app, [*words, "--no-frontier", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert "weights of the kept" in done.stdout
    assert (tmp_path / "run" / "kept.csv").is_file()
    few = ["prune", str(toy_npz), "--same-model", "--penalty", "total", "--l2", "0.01", "--no-frontier", "--json"]
    done = CliRunner().invoke(app, few)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["certificate"]["weighted"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"weights": True, "method": "el2n"},
            "`weights=True` chooses examples and weights together; leave `method='el2n'`",
        ),
        ({"weights": True, "formulation": "paper"}, "leave `formulation='paper'` out"),
        ({"weight_bounds": (2.0, 5.0)}, "must be two numbers low, high with 0 < low <= 1 <= high"),
        ({"weight_bounds": (5.0, 0.2)}, "must be two numbers low, high"),
        ({"same_model": True}, "got `fraction=0.4` and `same_model=True`"),
    ],
)
def test_weights_that_make_no_sense_are_named(toy, options, message):
    with pytest.raises(InputError, match=message):
        leanset.prune(*toy[:2], fraction=0.4, **options)


def test_a_head_that_does_not_move_is_said_so_and_passes_the_re_check(tmp_path):
    """The re-check resolves a change to 1e-5 of the norm only; a change of 0 must not fail for that."""
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 5, 3200)
    features = rng.normal(size=(3200, 20)) + 0.7 * rng.normal(size=(5, 20))[labels]
    validation = features[3000:], labels[3000:]
    options = {"fraction": 0.7, "weights": True, "penalty": "total", "l2": 1e-4, "frontier": False}
    result = leanset.prune(features[:3000], labels[:3000], validation=validation, out=tmp_path / "run", **options)
    assert result.certificate.outcome == Outcome.same_head.value
    checks = leanset.verify(tmp_path / "run", features[:3000], labels[:3000], validation=validation)
    assert [check.name for check in checks if not check.holds] == []
    assert re.match(
        r"70.0 % removed; the model is the same to \d·10⁻\S+\. Better than random", verdict(result.certificate).line
    )
    assert "inf" not in str(summary_rows(result.certificate))


def test_equations_that_are_singular_in_float64_are_no_error():
    """Fewer kept examples than equations, and many of them at a bound, leave a matrix without full rank."""
    features, labels = load_digits(return_X_y=True)
    result = leanset.prune(features[:900], labels[:900], same_model=True, penalty="total", l2=3e-4, frontier=False)
    assert result.certificate.refit_change <= 1e-6 * result.certificate.head_norm


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("size", [1e45, 1e54, 1e90])
def test_targets_too_large_for_weights_are_refused_in_words(size):
    rng = np.random.default_rng(0)
    features, targets = rng.normal(size=(30, 4)), size * rng.normal(size=30)
    try:
        result = leanset.prune(features, targets, loss="squared", fraction=0.9, weights=True, l2=1e-3, frontier=False)
    except leanset.LeansetError:
        return
    assert np.isfinite(result.weights).all()


@pytest.mark.parametrize("matrix", [np.zeros((2, 2)), np.full((2, 2), np.inf), np.array([[np.nan, 0.0], [0.0, 1.0]])])
def test_nothing_is_solved_with_a_matrix_that_is_no_curvature(matrix):
    assert weights_module._solved(matrix, np.ones(2)) is None


def test_coverage_has_no_part_in_weights(toy):
    for options in ({"fraction": 0.4, "weights": True}, {"same_model": True}):
        result = leanset.prune(recorded(toy), **options, penalty="total", frontier=False)
        assert result.settings["coverage"] is None
        with pytest.raises(InputError, match=r"leave `coverage=Coverage\("):
            leanset.prune(recorded(toy), **options, coverage=leanset.Coverage())


def test_random_sets_get_weights_too():
    """Beside weights, each example of a random set counts n/(n−m) times: under the total penalty its l2 is the full one."""
    rng = np.random.default_rng(3)
    features, labels = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    options = {"fraction": 0.75, "l2": 0.3, "random_draws": 40, "frontier": False, "progress": False}

    def random_change(**more):
        return leanset.prune(features, labels, **options, **more).certificate.random_refit_change_mean

    weighted = random_change(weights=True, penalty="total")
    assert weighted == pytest.approx(random_change(penalty="mean"), rel=1e-6)
    assert weighted != pytest.approx(random_change(penalty="total"), rel=0.1)
