import numpy as np
import pytest
from imblearn.pipeline import make_pipeline as imbalanced_learns_pipeline
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from leanset.sklearn import InfluencePruner, PrunedEstimator

PRUNER = InfluencePruner(keep=0.5, C=1.0, weights=True, threads=1)


def exact(**params):
    return LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12, **params)


def test_the_weights_arrive_so_that_the_model_is_the_same(toy):
    features, labels, (val_features, val_labels) = toy
    full, lean = exact().fit(features, labels), PrunedEstimator(exact(), PRUNER).fit(features, labels)
    np.testing.assert_allclose(lean.estimator_.coef_, full.coef_, atol=1e-6 * np.abs(full.coef_).max())
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_allclose(getattr(lean, method)(val_features), getattr(full, method)(val_features), atol=1e-5)
    assert lean.score(val_features, val_labels) == full.score(val_features, val_labels)
    assert (lean.classes_ == full.classes_).all()


def test_without_weights_it_is_the_fit_on_the_kept_rows(toy):
    features, labels, _ = toy
    lean = PrunedEstimator(LogisticRegression(), InfluencePruner(keep=0.3, l2=0.01, threads=1)).fit(features, labels)
    rows = lean.pruner_.sample_indices_
    oracle = LogisticRegression().fit(features[rows], labels[rows])
    np.testing.assert_array_equal(lean.estimator_.coef_, oracle.coef_)


@pytest.mark.parametrize("pruner", [PRUNER, InfluencePruner(keep=0.5, C=1.0, threads=1)], ids=["weights", "none"])
def test_weights_of_the_user_reach_the_pruner_and_their_product_the_estimator(toy, pruner):
    features, labels, (val_features, val_labels) = toy
    given = np.random.default_rng(0).gamma(1.0, size=240) + 0.1
    lean = PrunedEstimator(exact(), pruner).fit(features, labels, sample_weight=given)
    alone = clone(pruner).fit(features, labels, sample_weight=given)
    rows, weights = alone.sample_indices_, alone.weights_
    np.testing.assert_array_equal(lean.pruner_.sample_indices_, rows)
    oracle = exact().fit(features[rows], labels[rows], sample_weight=weights)
    np.testing.assert_array_equal(lean.estimator_.coef_, oracle.coef_)
    if pruner.weights:
        full = exact().fit(features, labels, sample_weight=given)
        np.testing.assert_allclose(lean.estimator_.coef_, full.coef_, atol=1e-6 * np.abs(full.coef_).max())
    else:
        np.testing.assert_array_equal(weights, given[rows])
    judged = lean.score(val_features, val_labels, sample_weight=np.where(val_labels == 0, 1.0, 0.0))
    assert judged == oracle.score(val_features[val_labels == 0], val_labels[val_labels == 0])


def test_routing_brings_weights_through_a_search_and_a_pipeline(toy):
    features, labels, _ = toy
    given = np.random.default_rng(0).gamma(1.0, size=240) + 0.1
    with config_context(enable_metadata_routing=True):
        asking = PrunedEstimator(exact().set_fit_request(sample_weight=True), PRUNER).set_fit_request(
            sample_weight=True
        )
        asking.set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking)
        search = GridSearchCV(pipeline, {"prunedestimator__pruner__keep": [0.5]}, cv=2)
        found = search.fit(features, labels, sample_weight=given).best_estimator_
        deaf = make_pipeline(StandardScaler(), PrunedEstimator(exact(), PRUNER))
        with pytest.raises(ValueError, match="sample_weight"):
            deaf.fit(features, labels, sample_weight=given)
    full = exact().fit(StandardScaler().fit_transform(features), labels, sample_weight=given)
    np.testing.assert_allclose(found[-1].estimator_.coef_, full.coef_, atol=1e-6 * np.abs(full.coef_).max())


def test_scalers_before_it_see_all_rows(toy):
    features, labels, _ = toy
    for make in (make_pipeline, imbalanced_learns_pipeline):
        full = make(StandardScaler(), exact()).fit(features, labels)
        lean = make(StandardScaler(), PrunedEstimator(exact(), PRUNER)).fit(features, labels)
        np.testing.assert_allclose(lean[-1].estimator_.coef_, full[-1].coef_, atol=1e-6)


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_inside_gets_the_weights_with_and_without_metadata_routing(toy, routing):
    features, labels, _ = toy
    with config_context(enable_metadata_routing=routing):
        scaler, model = StandardScaler(), exact()
        if routing:
            scaler, model = scaler.set_fit_request(sample_weight=True), model.set_fit_request(sample_weight=True)
        lean = PrunedEstimator(make_pipeline(scaler, model), PRUNER).fit(features, labels)
    rows, weights = lean.pruner_.sample_indices_, lean.pruner_.weights_
    scaled = StandardScaler().fit(features[rows], sample_weight=weights if routing else None)
    oracle = exact().fit(scaled.transform(features[rows]), labels[rows], sample_weight=weights)
    np.testing.assert_allclose(lean.estimator_[-1].coef_, oracle.coef_, rtol=1e-9)


def test_a_search_reaches_both_and_half_is_kept_by_default(toy):
    features, labels, _ = toy
    search = GridSearchCV(
        PrunedEstimator(LogisticRegression(), PRUNER), {"pruner__keep": [0.4, 0.5], "estimator__C": [1.0]}
    )
    assert search.fit(features, labels).best_score_ > 0.5
    regression = PrunedEstimator(Ridge(), InfluencePruner(loss="squared", C=1.0, weights=True, threads=1))
    assert len(regression.fit(features, features @ np.arange(5.0) + labels).pruner_.sample_indices_) == 120


def test_it_has_what_its_estimator_has_and_says_when_it_is_not_fitted(toy):
    assert not hasattr(PrunedEstimator(LinearSVC()), "predict_proba")
    assert hasattr(PrunedEstimator(LogisticRegression()), "predict_proba")
    with pytest.raises(NotFittedError):
        PrunedEstimator(LogisticRegression()).predict(toy[0])
