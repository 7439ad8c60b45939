"""An unpenalised bias from end to end: `C=` is scikit-learn's model, on the features as they are."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from typer.testing import CliRunner

import leanset
from leanset import InputError
from leanset.cli.app import app
from leanset.problem import Outcome
from tests.head.test_bias import scikit_learns
from tests.test_losses import LOSSES, problem

TIGHT = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}


def raw(n_classes, n=1000, d=5, seed=0):
    """Overlapping classes of unequal size; features of different scales, far from zero."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / sum(range(1, n_classes + 1)))
    features = rng.normal(size=(n, d)) + rng.normal(size=(n_classes, d))[labels]
    return (features + np.linspace(-30, 50, d)) * 10.0 ** np.linspace(-2, 2, d), labels


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fraction", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
def test_scikit_learn_finds_the_same_coefficients_and_intercepts(n_classes, fraction, C):
    X, y = raw(n_classes)
    result = leanset.prune(X, y, fraction=fraction, weights=True, C=C, frontier=False)
    assert result.certificate.outcome == Outcome.same_head.value
    full = LogisticRegression(C=C, **TIGHT).fit(X, y)
    lean = LogisticRegression(C=C, **TIGHT).fit(X[result.kept], y[result.kept], sample_weight=result.weights)
    size = X.std(axis=0)
    np.testing.assert_allclose(lean.coef_ * size, full.coef_ * size, atol=1e-6)
    np.testing.assert_allclose(lean.predict_proba(X), full.predict_proba(X), atol=1e-6)
    shared = [model.intercept_.mean() if n_classes > 2 else 0.0 for model in (lean, full)]  # of no effect on a softmax
    np.testing.assert_allclose(lean.intercept_ - shared[0], full.intercept_ - shared[1], rtol=1e-5)


@pytest.mark.parametrize("fraction", [0.5, 0.9])
@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_ridge_finds_the_same_coefficients_and_intercept(fraction, alpha):
    X, _ = raw(2)
    prices = 1e3 + X @ np.array([80.0, 5.0, 1.0, -0.2, 0.03]) + np.random.default_rng(1).normal(size=len(X))
    result = leanset.prune(X, prices, loss="squared", fraction=fraction, weights=True, C=1 / alpha, frontier=False)
    full = Ridge(alpha=alpha).fit(X, prices)
    lean = Ridge(alpha=alpha).fit(X[result.kept], prices[result.kept], sample_weight=result.weights)
    np.testing.assert_allclose(lean.coef_, full.coef_, rtol=1e-6)
    np.testing.assert_allclose(lean.intercept_, full.intercept_, rtol=1e-6)


def test_labels_and_class_names_are_as_scikit_learn_takes_them():
    X, y = raw(2)
    names = np.array(["no", "yes"])[y]
    result = leanset.prune(X, names, fraction=0.8, weights=True, C=1.0, frontier=False)
    full = LogisticRegression(**TIGHT).fit(X, names)
    lean = LogisticRegression(**TIGHT).fit(X[result.kept], names[result.kept], sample_weight=result.weights)
    np.testing.assert_allclose(lean.decision_function(X), full.decision_function(X), atol=1e-6)
    one_label = leanset.prune(X, y, loss="sigmoid", fraction=0.8, weights=True, C=1.0, frontier=False)
    again = LogisticRegression(**TIGHT).fit(X[one_label.kept], y[one_label.kept], sample_weight=one_label.weights)
    np.testing.assert_allclose(again.decision_function(X), full.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_says_what_scikit_learn_measures(loss):
    """Without weights: the change of the weights, and of the output at the mean example."""
    features, targets, validation = problem(loss)
    features = 3.0 * features + 20.0
    validation = 3.0 * validation[0] + 20.0, validation[1]
    options = {"fraction": 0.5, "C": 0.5, "loss": loss, "frontier": False}
    result = leanset.prune(features, targets, validation=validation, **options)
    x = features - features.mean(axis=0)
    full, lean = (scikit_learns(x[rows], targets[rows], loss, 0.5) for rows in (np.arange(400), result.kept))
    certificate = result.certificate
    assert not certificate.penalised_bias
    assert certificate.head_norm == pytest.approx(np.linalg.norm(full), rel=1e-6)
    assert certificate.refit_change == pytest.approx(np.linalg.norm(lean - full), rel=1e-4)
    assert certificate.refit_change < certificate.random_refit_change_mean / 2
    assert certificate.newton_change == pytest.approx(certificate.refit_change, rel=0.3)
    assert certificate.refit_error_bound <= 1e-6 * certificate.head_norm
    assert certificate.validation_loss_gap <= certificate.first_order_bound + certificate.second_order_bound


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, {"penalise_bias": True, "penalty": "total", "standardize": True}),
        ({"C": 1.0}, {"penalise_bias": False, "penalty": "total", "standardize": False}),
        ({"l2": 0.1}, {"penalise_bias": True, "penalty": "total", "standardize": True}),
        ({"l2": 0.1, "penalise_bias": False}, {"penalise_bias": False, "penalty": "total", "standardize": True}),
        ({"C": 1.0, "penalty": "mean"}, {"penalise_bias": False, "penalty": "mean", "standardize": False}),
        ({"C": 1.0, "penalise_bias": True}, {"penalise_bias": True, "penalty": "total", "standardize": False}),
        ({"C": 1.0, "standardize": True}, {"penalise_bias": False, "penalty": "total", "standardize": True}),
    ],
)
def test_C_describes_scikit_learns_model_unless_you_say_otherwise(toy, given, meant):
    result = leanset.prune(*toy[:2], fraction=0.4, method="random", frontier=False, **given)
    assert {name: result.settings[name] for name in meant} == meant
    assert (result.certificate.penalised_bias, result.certificate.penalty) == (meant["penalise_bias"], meant["penalty"])
    if "C" in given:
        assert result.certificate.l2 == pytest.approx(1 / 240)


def test_C_of_two_classes_counts_twice():
    X, y = raw(2)
    for loss, factor in (("softmax", 2), ("sigmoid", 1), ("squared", 1)):
        result = leanset.prune(X, y, loss=loss, C=0.5, fraction=0.4, method="random", frontier=False)
        assert result.certificate.l2 == pytest.approx(factor / (0.5 * 1000))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "options",
    [
        {"C": 0.5, "weights": True},
        {"C": 0.5},
        {"C": 0.5, "penalty": "mean"},
        {"C": 0.5, "formulation": "paper"},
        {"l2": 1e-2, "penalise_bias": False},
    ],
    ids=str,
)
def test_runs_are_re_checked(tmp_path, loss, options):
    features, targets, validation = problem(loss)
    scale, offset = np.array([0.1, 1.0, 30.0, 1.0, 5.0]), np.array([7.0, -2.0, 900.0, 0.0, 1.0])
    features, validation = features * scale + offset, (validation[0] * scale + offset, validation[1])
    options = {"fraction": 0.5, "loss": loss, "frontier": False, **options}
    leanset.prune(features, targets, validation=validation, out=tmp_path / "run", **options)

    def failed():
        checks = leanset.verify(tmp_path / "run", features, targets, validation=validation)
        return [check.name for check in checks if not check.holds]

    assert failed() == []
    file = tmp_path / "run" / "certificate.json"
    honest = json.loads(file.read_text())
    file.write_text(json.dumps(honest | {"penalised_bias": True}))
    assert failed() == ["manifest", "penalised bias"]
    file.write_text(json.dumps(honest | {"refit_change": 2 * honest["refit_change"] + 0.1}))
    assert "measured change" in failed()


def test_a_re_check_with_the_other_penalty_would_fail(tmp_path):
    """The twin does read whether the bias is penalised."""
    features, targets, _ = problem("softmax")
    leanset.prune(features, targets, fraction=0.5, C=0.5, out=tmp_path / "run", frontier=False)
    for name, key in (("certificate.json", "penalised_bias"), ("settings.json", "penalise_bias")):
        file = tmp_path / "run" / name
        file.write_text(json.dumps(json.loads(file.read_text()) | {key: True}))
    checks = leanset.verify(tmp_path / "run", features, targets)
    assert "measured change" in [check.name for check in checks if not check.holds]


def test_a_given_head_is_told_from_the_minimum_by_what_matters(toy):
    """A number added to the biases of all classes changes no prediction, so it is no distance."""
    start = np.random.default_rng(0).normal(size=(3, 6))
    moved = start.copy()
    moved[:, -1] += 100.0
    one, two = (
        leanset.prune(*toy[:2], fraction=0.4, C=1.0, head=head, method="random", frontier=False).certificate
        for head in (start, moved)
    )
    assert one.start_head_distance == pytest.approx(two.start_head_distance)
    assert one.head_norm == pytest.approx(two.head_norm, rel=1e-6)


def test_large_heads_are_pruned_too():
    """More weights than the exact inverse takes: Kronecker steers, conjugate gradients measure."""
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 20
    features = 5.0 + rng.normal(size=(600, 60)) + 2 * rng.normal(size=(20, 60))[labels]
    options = {"fraction": 0.3, "C": 0.2, "memory": 2**24, "frontier": False}
    certificate = leanset.prune(features, labels, **options).certificate
    assert certificate.inverse == "cg"
    assert certificate.refit_change < certificate.random_refit_change_mean
    assert certificate.newton_change == pytest.approx(certificate.refit_change, rel=0.1)


def test_the_command_line_has_the_bias(toy_npz, toy, tmp_path):
    words = ["prune", str(toy_npz), "--fraction", "0.5", "--weights", "--no-frontier", "--json"]
    done = CliRunner().invoke(app, [*words, "--C", "0.5", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)["certificate"]
    assert (shown["penalised_bias"], shown["penalty"]) == (False, "total")
    held = CliRunner().invoke(app, ["verify", str(tmp_path / "run"), "--data", str(toy_npz)])
    assert held.exit_code == 0, held.output
    for flag, penalised in (("--no-penalise-bias", False), ("--penalise-bias", True)):
        done = CliRunner().invoke(app, [*words, "--l2", "0.01", flag])
        assert json.loads(done.stdout)["certificate"]["penalised_bias"] is penalised


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalise_bias": "no"}, "`penalise_bias='no'` must be True or False"),
        ({"penalise_bias": 0}, "`penalise_bias=0` must be True or False"),
        ({"C": -1.0}, "`C=-1.0` must be positive"),
        ({"C": np.inf}, "`C=inf` must be a finite number"),
        ({"C": 1.0, "l2": 0.1, "penalise_bias": False}, "`l2=0.1` and `C=1.0` are two ways to say one thing"),
        ({"l2": -1.0, "penalise_bias": False}, "`l2=-1.0` must be a number of at least 0"),
    ],
)
def test_what_makes_no_sense_is_named(toy, options, message):
    with pytest.raises(InputError, match=f"^{message}"):
        leanset.prune(*toy[:2], fraction=0.4, **options)


@pytest.mark.parametrize("loss", ["softmax", "sigmoid", "squared"])
def test_a_head_without_a_bias_is_scikit_learns_without_an_intercept(toy, tmp_path, loss):
    features, labels, (val_features, val_labels) = toy
    shown = {"softmax": labels, "sigmoid": labels == 0, "squared": features @ np.arange(5.0) + labels}[loss]
    held = {"softmax": val_labels, "sigmoid": val_labels == 0, "squared": val_features @ np.arange(5.0)}[loss]
    options = {"loss": loss, "C": 0.5, "bias": False, "weights": True, "frontier": False}
    result = leanset.prune(features, shown, keep=0.5, validation=(val_features, held), out=tmp_path / "run", **options)
    number = loss == "squared"
    model = Ridge(alpha=2.0) if number else LogisticRegression(C=0.5, solver="newton-cg", max_iter=1000)
    model.set_params(fit_intercept=False, tol=1e-12)
    full = model.fit(features, shown).coef_
    assert result.certificate.head_norm == pytest.approx(np.linalg.norm(full), rel=1e-6)
    lean = model.fit(features[result.kept], shown[result.kept], sample_weight=result.weights).coef_
    np.testing.assert_allclose(lean, full, atol=1e-6 * np.abs(full).max())
    checks = leanset.verify(tmp_path / "run", features, shown, validation=(val_features, held))
    assert [check for check in checks if not check.holds] == []


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"penalise_bias": False}, "`penalise_bias=False` does not apply to a head without a bias"),
        ({"l2": 0}, "`bias=False` needs a penalty, but `l2=0`"),
    ],
)
def test_what_a_head_without_a_bias_cannot_have_is_refused(toy, options, match):
    with pytest.raises(InputError, match=match):
        leanset.prune(*toy[:2], keep=0.5, bias=False, **options)
