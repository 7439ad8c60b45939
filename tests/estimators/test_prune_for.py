"""`prune_for` is about the user's very model: scikit-learn fits it on all rows and on the kept ones, and they agree."""

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline as imbalanced_learns_pipeline
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import Lasso, LogisticRegression, LogisticRegressionCV, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import leanset
from leanset import InputError
from leanset.sklearn import InfluencePruner, prune_for

EXACT = {"keep": 0.6, "weights": True, "frontier": False}
TIGHT = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}


def problem(kind, n=400, seed=0):
    """Features far from zero and from one scale, with overlapping classes."""
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % 3
    x = (rng.normal(size=(n, 4)) + np.eye(3, 4)[classes]) * [1.0, 3.0, 0.3, 1.0] + [5.0, 0.0, -1.0, 2.0]
    y = {
        "three": np.array(["ant", "bee", "cat"])[classes],
        "two": np.where(classes == 0, 1, -1),
        "number": x @ [1.0, -0.3, 2.0, 0.0] + rng.normal(size=n),
        "numbers": x @ rng.normal(size=(4, 2)) + rng.normal(size=(n, 2)),
        "tags": (x[:, :2] > [5.0, 0.0]).astype(int),
    }[kind]
    return x, y


MODELS = [
    ("three", LogisticRegression(C=0.5, **TIGHT)),
    ("two", LogisticRegression(C=0.5, **TIGHT)),
    ("two", LogisticRegression(C=0.5, fit_intercept=False, **TIGHT)),
    ("three", LogisticRegression(C=2.0, fit_intercept=False, **TIGHT)),
    ("two", LogisticRegression(C=2.0, fit_intercept=False, solver="liblinear", tol=1e-10, max_iter=10_000)),
    ("three", LogisticRegression(C=np.inf, **TIGHT)),
    ("number", Ridge(alpha=3.0)),
    ("number", Ridge(alpha=np.array([3.0]), fit_intercept=False)),
    ("numbers", Ridge(alpha=0.1)),
    ("number", Ridge(alpha=0.0)),
    ("two", RidgeClassifier(alpha=2.0)),
    ("three", RidgeClassifier(alpha=2.0)),
    ("three", RidgeClassifier(alpha=2.0, fit_intercept=False)),
    ("tags", RidgeClassifier(alpha=2.0)),
]


def assert_same_model(lean, full):
    for name in ("coef_", "intercept_"):
        scale = max(np.abs(getattr(full, name)).max(), np.abs(full.coef_).max())
        np.testing.assert_allclose(getattr(lean, name), getattr(full, name), rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize(("kind", "model"), MODELS, ids=str)
def test_the_kept_rows_with_their_weights_have_the_coefficients_of_all_rows(kind, model):
    x, y = problem(kind)
    full = clone(model).fit(x, y)
    for estimator in (model, full):
        result = prune_for(estimator, x, y, **EXACT)
        assert len(result.kept) == 240
        assert_same_model(clone(model).fit(x[result.kept], y[result.kept], sample_weight=result.weights), full)


@pytest.mark.parametrize(("kind", "model"), MODELS, ids=str)
def test_the_certificate_is_about_this_model(kind, model):
    """The measured change is that of scikit-learn's own fits, bias at the mean example, without weights."""
    x, y = problem(kind)
    result = prune_for(model, x, y, keep=0.6, frontier=False, minimise="parameters", proposals=50_000)
    full, lean = (clone(model).fit(x[rows], y[rows]) for rows in (np.arange(len(x)), result.kept))
    mean = x.mean(axis=0) if model.fit_intercept else np.zeros(4)

    def weights(fitted):
        outputs = np.atleast_2d(fitted.coef_)
        theta = np.column_stack([outputs, outputs @ mean + fitted.intercept_])
        if isinstance(model, LogisticRegression) and kind == "three":
            theta[:, -1] -= theta[:, -1].mean()
        return theta / np.sqrt(2) if isinstance(model, LogisticRegression) and kind == "two" else theta

    assert result.certificate.head_norm == pytest.approx(np.linalg.norm(weights(full)), rel=1e-5)
    change = np.linalg.norm(weights(lean) - weights(full))
    assert result.certificate.refit_change == pytest.approx(change, rel=1e-3, abs=1e-6 * result.certificate.head_norm)


@pytest.mark.parametrize("fitted", [True, False])
@pytest.mark.parametrize(("kind", "model"), [MODELS[0], MODELS[6], MODELS[11]], ids=str)
def test_the_transformers_of_a_pipeline_are_used_as_they_are_on_all_rows(kind, model, fitted):
    x, y = problem(kind)
    pipeline = make_pipeline(StandardScaler(), PCA(3), model)
    full = clone(pipeline).fit(x, y)
    result = prune_for(full if fitted else pipeline, x, y, validation=(x[:50], y[:50]), **EXACT)
    seen = full[:-1].transform(x)
    assert_same_model(clone(model).fit(seen[result.kept], y[result.kept], sample_weight=result.weights), full[-1])
    if fitted:
        with pytest.raises(Exception, match="not fitted"):
            pipeline[0].transform(x)


WEIGHTED = [*MODELS[:2], ("number", Ridge(alpha=3.0)), ("two", RidgeClassifier(alpha=2.0))]


@pytest.mark.parametrize(("kind", "model"), WEIGHTED, ids=str)
def test_rows_with_weights_of_their_own_have_the_coefficients_of_all_weighted_rows(kind, model):
    x, y = problem(kind)
    given = np.random.default_rng(1).gamma(1.0, size=400) + 0.1
    full = clone(model).fit(x, y, sample_weight=given)
    result = prune_for(model, x, y, sample_weight=given.tolist(), **EXACT)
    assert_same_model(clone(model).fit(x[result.kept], y[result.kept], sample_weight=result.weights), full)


@pytest.mark.parametrize("given", [None, np.random.default_rng(1).gamma(1.0, size=400) + 0.1], ids=["alike", "given"])
@pytest.mark.parametrize("by_class", ["balanced", {1: 5.0}, {1: 0.5, -1: 3.0}], ids=str)
@pytest.mark.parametrize("model", [LogisticRegression(C=0.5, **TIGHT), RidgeClassifier(alpha=2.0)], ids=str)
def test_weights_of_classes_are_weights_of_their_rows(model, by_class, given):
    x, y = problem("two")
    by_model = clone(model).set_params(class_weight=by_class)
    full = clone(by_model).fit(x, y, sample_weight=given)
    result = prune_for(by_model, x, y, sample_weight=given, **EXACT)
    kept = clone(model).fit(x[result.kept], y[result.kept], sample_weight=result.weights)
    assert_same_model(kept, full)
    base = np.ones(400) if given is None else given
    if (
        by_class == "balanced"
    ):  # the classes count the same together; LogisticRegression counts weights, the others rows
        counted = base if isinstance(model, LogisticRegression) else np.ones(400)
        each = np.where(y == 1, counted.sum() / counted[y == 1].sum(), counted.sum() / counted[y == -1].sum()) / 2
    else:
        each = np.where(y == 1, by_class[1], by_class.get(-1, 1.0))
    expanded = prune_for(model, x, y, sample_weight=base * each, **EXACT)
    np.testing.assert_array_equal(result.kept, expanded.kept)
    np.testing.assert_allclose(result.weights, expanded.weights, rtol=1e-6)


def test_a_pipeline_of_one_step_is_its_step_and_categories_go_through_encoders():
    x, y = problem("three")
    alone = prune_for(MODELS[0][1], x, y, **EXACT)
    assert (prune_for(make_pipeline(MODELS[0][1]), x, y, **EXACT).kept == alone.kept).all()
    frame = pd.DataFrame({"city": np.where(x[:, 0] > 5, "York", "Rome"), "old": x[:, 1] > 0})
    pipeline = make_pipeline(OneHotEncoder(), LogisticRegression(**TIGHT | {"solver": "lbfgs"})).fit(frame, y)
    result = prune_for(pipeline, frame, y, **EXACT)
    lean = clone(pipeline[-1]).fit(
        pipeline[:-1].transform(frame)[result.kept], y[result.kept], sample_weight=result.weights
    )
    np.testing.assert_allclose(lean.predict_proba(np.eye(4)), pipeline[-1].predict_proba(np.eye(4)), atol=1e-5)


def test_a_category_of_numbers_is_read_as_numbers_as_the_model_does():
    x, y = problem("three")
    grade = np.round(x[:, 0])
    frame = pd.DataFrame({"grade": pd.Categorical(grade)})
    assert (
        prune_for(LogisticRegression(), frame, y, **EXACT).kept
        == prune_for(LogisticRegression(), grade[:, None], y, **EXACT).kept
    ).all()


def test_sparse_rows_are_those_of_the_dense_array():
    x, y = problem("three")
    dense = prune_for(MODELS[0][1], x, y, **EXACT)
    assert (prune_for(MODELS[0][1], sparse.csr_array(x), y, **EXACT).weights == dense.weights).all()


def test_a_ridge_classifier_keeps_every_class_pins_and_labels():
    x, y = problem("three")
    y = np.where(np.arange(len(y)) < 3, "rare", y)
    for pinned in ([399, 398], np.arange(400) >= 398):
        result = prune_for(RidgeClassifier(), x, y, keep=0.1, pinned=pinned, class_balance="none", frontier=False)
        assert set(y[result.kept]) == set(y)
        assert {398, 399} <= set(result.kept)
    assert (result.labels == y).all()
    assert "rare: " in result.summary()


def test_the_penalty_by_its_name_until_scikit_learn_1_7():
    """From 1.8 on `penalty` is deprecated in favour of `C` and `l1_ratio`; both ways of saying it are read."""
    x, y = problem("three")
    plain = prune_for(LogisticRegression(C=0.5), x, y, **EXACT)
    named = prune_for(LogisticRegression(C=0.5, penalty="l2"), x, y, **EXACT)
    assert (named.weights == plain.weights).all()
    free = prune_for(LogisticRegression(penalty=None), x, y, **EXACT)
    assert free.certificate.l2 == prune_for(LogisticRegression(C=np.inf), x, y, **EXACT).certificate.l2 == 0.0


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (LogisticRegression(l1_ratio=1, solver="saga"), r"`LogisticRegression\(l1_ratio=1\)` .* no second derivative"),
        (LogisticRegression(penalty="l1", solver="saga"), r"`LogisticRegression\(penalty='l1'\)` .* no second deriv"),
        (LogisticRegression(penalty="elasticnet", l1_ratio=0.5, solver="saga"), r"l1_ratio=0.5.* no second derivative"),
        (LogisticRegression(solver="liblinear"), r"liblinear'\)` .*one model a class"),
        (LogisticRegression(C=np.inf, fit_intercept=False), r"fit_intercept=False.*without a penalty"),
        (Ridge(positive=True, solver="lbfgs"), r"`Ridge\(positive=True\)` cannot be pruned for"),
        (Ridge(alpha=[1.0, 2.0]), r"`Ridge\(alpha=\[1.0, 2.0\]\)` .* one penalty for all targets"),
        (SVC(), r"knows LogisticRegression, RidgeClassifier and Ridge, .*; SVC minimises something else"),
        (Lasso(), r"Lasso minimises something else"),
        (LogisticRegressionCV(), r"LogisticRegressionCV minimises something else"),
        (GridSearchCV(Ridge(), {}), r"GridSearchCV .*pass its `best_estimator_`"),
        (make_pipeline(StandardScaler(), SVC()), r"SVC minimises something else"),
        (imbalanced_learns_pipeline(InfluencePruner(), Ridge()), r"cannot take a Pipeline that resamples"),
    ],
    ids=str,
)
def test_what_cannot_be_served_is_refused_in_one_line_that_says_why(model, match):
    x, y = problem("three")
    with pytest.raises(InputError, match=match) as raised:
        prune_for(model, x, y, keep=0.5)
    assert "\n" not in str(raised.value)


def test_liblinear_penalises_its_intercept():
    x, y = problem("two")
    with pytest.raises(InputError, match=r"solver='liblinear'.*a penalty on the intercept"):
        prune_for(LogisticRegression(solver="liblinear"), x, y, keep=0.5)


@pytest.mark.parametrize("name", ["C", "l2", "penalty", "standardize", "loss", "bias", "penalise_bias"])
def test_what_the_estimator_says_is_not_asked_again(name):
    x, y = problem("two")
    with pytest.raises(InputError, match=rf"`{name}=0.5` is read from LogisticRegression; do not give it"):
        prune_for(LogisticRegression(), x, y, keep=0.5, **{name: 0.5})


def test_a_run_for_a_model_can_be_saved_and_verified(tmp_path):
    x, y = problem("three")
    prune_for(MODELS[0][1], x, y, out=tmp_path / "run", **EXACT)
    assert [check for check in leanset.verify(tmp_path / "run", x, y) if not check.holds] == []
