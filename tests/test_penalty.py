"""What stays fixed when training on less: l2 (the mean penalty) or n·l2 (the total penalty)."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from typer.testing import CliRunner

import leanset
from leanset import InputError
from leanset.cli.app import app
from tests import plain
from tests.test_losses import LOSSES, problem

L2 = 1e-2
QUICK = {"frontier": False, "l2": L2}


def changes(toy, removed):
    """The measured change under both penalties, by the loops of `plain`."""
    x, labels = plain.design(toy[0]), np.asarray(toy[1])
    kept = np.setdiff1d(np.arange(len(x)), removed)
    full = plain.fit(x, labels, 3, L2)
    scaled = {"mean": L2, "total": L2 * len(x) / len(kept)}
    return {name: np.linalg.norm(plain.fit(x[kept], labels[kept], 3, l2) - full) for name, l2 in scaled.items()}


@pytest.mark.parametrize("penalty", ["mean", "total"])
@pytest.mark.parametrize("formulation", ["newton", "paper"])
def test_the_certificate_measures_under_both_penalties(toy, penalty, formulation):
    result = leanset.prune(*toy[:2], fraction=0.4, penalty=penalty, formulation=formulation, **QUICK)
    certificate, measured = result.certificate, changes(toy, result.removed)
    other = {"mean": "total", "total": "mean"}[penalty]
    assert certificate.penalty == penalty
    assert certificate.refit_change == pytest.approx(measured[penalty], rel=1e-5)
    assert certificate.other_penalty_change == pytest.approx(measured[other], rel=1e-5)
    assert certificate.train_l2 == pytest.approx(L2 if penalty == "mean" else L2 / 0.6)
    assert certificate.newton_change == pytest.approx(certificate.refit_change, rel=0.2)


def test_each_penalty_has_its_own_best_set(toy):
    mean, total = (
        leanset.prune(*toy[:2], fraction=0.5, penalty=name, **QUICK).certificate for name in ("mean", "total")
    )
    assert mean.refit_change < total.other_penalty_change
    assert total.refit_change < mean.other_penalty_change
    for certificate in (mean, total):
        assert certificate.refit_change < certificate.random_refit_change_mean / 5


def test_the_paper_keeps_its_promise_under_the_total_penalty(toy):
    """Problem (b): what ‖WᵀS‖ predicts is what a refit measures, if n·l2 is left alone, and not if l2 is."""
    options = {"fraction": 0.4, "l2": 0.1, "formulation": "paper", "frontier": False}
    total = leanset.prune(*toy[:2], penalty="total", **options).certificate
    assert total.refit_change == pytest.approx(total.influence_change, rel=0.5)
    assert total.other_penalty_change > 5 * total.influence_change


def test_problem_a_grown_as_published_stays_within_its_bound_under_the_total_penalty(toy):
    """The prediction is of first order, so the measured change may exceed the bound by a second-order term."""
    for epsilon in (0.05, 0.2):
        options = {"epsilon": epsilon, "l2": 0.1, "formulation": "paper", "frontier": False}
        certificate = leanset.prune(*toy[:2], penalty="total", **options).certificate
        assert certificate.removed > 20
        assert certificate.refit_change <= 2 * epsilon
        assert certificate.other_penalty_change > 1.5 * certificate.refit_change


@pytest.mark.parametrize("loss", LOSSES)
def test_the_total_penalty_is_scikit_learn_with_its_settings_left_alone(loss):
    features, targets, _ = problem(loss)
    c = 1 / (400 * L2)
    options = {"C": c, "penalise_bias": True, "standardize": True, "loss": loss, "frontier": False}
    result = leanset.prune(features, targets, fraction=0.5, **options)
    x = plain.design(features)

    def fit(rows):
        if loss == "squared":
            return Ridge(alpha=1 / c, fit_intercept=False).fit(x[rows], targets[rows]).coef_
        model = LogisticRegression(C=c, fit_intercept=False, tol=1e-10, max_iter=10_000)
        if loss == "softmax":
            return model.fit(x[rows], targets[rows]).coef_
        return np.vstack([model.fit(x[rows], targets[rows, k]).coef_ for k in range(3)])

    full, lean = fit(np.arange(400)), fit(result.kept)
    certificate = result.certificate
    assert certificate.l2 == pytest.approx(L2)
    assert certificate.refit_change == pytest.approx(np.linalg.norm(lean - full), abs=2e-5 * np.linalg.norm(full))
    assert certificate.refit_change < certificate.random_refit_change_mean / 2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("formulation", ["newton", "paper"])
def test_runs_under_the_total_penalty_are_re_checked(loss, formulation, tmp_path):
    features, targets, validation = problem(loss)
    options = {"fraction": 0.4, "loss": loss, "penalty": "total", "formulation": formulation, **QUICK}
    leanset.prune(features, targets, validation=validation, out=tmp_path / "run", **options)

    def failed():
        checks = leanset.verify(tmp_path / "run", features, targets, validation=validation)
        return [check.name for check in checks if not check.holds]

    assert failed() == []
    honest = json.loads((tmp_path / "run" / "certificate.json").read_text())
    for key, value, named in (
        ("train_l2", honest["l2"], "l2 to train with"),
        ("other_penalty_change", 0.5 * honest["other_penalty_change"], "other penalty"),
        ("refit_change", 2 * honest["refit_change"] + 0.1, "measured change"),
        ("penalty", "mean", "penalty"),
    ):
        (tmp_path / "run" / "certificate.json").write_text(json.dumps(honest | {key: value}))
        assert named in failed()


def test_limits_hold_under_the_total_penalty(toy):
    for limit in (0.05, 0.3):
        certificate = leanset.prune(*toy[:2], epsilon=limit, penalty="total", **QUICK).certificate
        assert certificate.refit_change <= limit
        assert certificate.removed > 0


def test_the_structured_path_knows_the_penalty():
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 20
    features = rng.normal(size=(600, 60)) + 2 * rng.normal(size=(20, 60))[labels]
    options = {"fraction": 0.3, "l2": 1e-2, "memory": 2**24, "penalty": "total", "frontier": False}
    certificate = leanset.prune(features, labels, **options).certificate
    assert certificate.inverse == "cg"
    assert certificate.refit_change < certificate.random_refit_change_mean
    assert certificate.newton_change == pytest.approx(certificate.refit_change, rel=0.1)


def test_the_command_line_has_the_penalty(toy_npz, tmp_path):
    words = ["prune", str(toy_npz), "--fraction", "0.4", "--penalty", "total", "--C", "0.5", "--no-frontier", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)["certificate"]
    assert (shown["penalty"], shown["l2"]) == ("total", pytest.approx(1 / (0.5 * 240)))
    refused = CliRunner().invoke(app, [*words, "--l2", "0.1"])
    assert refused.exit_code == 2
    assert "--l2 0.1 and --C 0.5 are two ways to say one thing" in refused.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "none"}, "`penalty='none'` must be 'mean' or 'total'"),
        ({"C": 0.0}, "`C=0.0` must be positive"),
        ({"C": 1.0, "l2": 0.1}, "`l2=0.1` and `C=1.0` are two ways to say one thing; give one of them"),
    ],
)
def test_penalties_that_make_no_sense_are_named(toy, options, message):
    with pytest.raises(InputError, match=message):
        leanset.prune(*toy[:2], fraction=0.4, **options)
