import inspect
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest
from imblearn.pipeline import Pipeline
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import leanset
from leanset import InputError
from leanset.settings import PruneOptions, WorkOptions
from leanset.sklearn import InfluencePruner

FAST = {"l2": 1e-2, "proposals": 20_000, "threads": 1}


def test_parameters_are_the_options_of_prune():
    own = set(inspect.signature(InfluencePruner).parameters)
    options = {item.name for kind in (PruneOptions, WorkOptions) for item in fields(kind)}
    assert own == options - {"head", "pinned", "sample_weight", "seed"} | {"random_state"}
    assert all(f"\n    {name} : " in InfluencePruner.__doc__ for name in own)


def test_the_answer_is_that_of_prune(toy):
    features, labels, _ = toy
    pruner = InfluencePruner(keep=0.4, weights=True, random_state=3, **FAST)
    kept, kept_labels = pruner.fit_resample(features, labels)
    result = leanset.prune(features, labels, keep=0.4, weights=True, seed=3, frontier=False, **FAST)
    assert (pruner.sample_indices_ == result.kept).all()
    assert (pruner.weights_ == result.weights).all()
    assert pruner.report_.certificate == result.certificate
    assert (kept == features[result.kept]).all()
    assert (kept_labels == labels[result.kept]).all()
    assert pruner.sampling_strategy_ == dict(enumerate(np.bincount(kept_labels)))


def test_half_is_removed_if_no_budget_is_given_and_another_one_replaces_it(toy):
    assert len(InfluencePruner(**FAST).fit(*toy[:2]).sample_indices_) == 120
    assert len(InfluencePruner(count=40, **FAST).fit(*toy[:2]).sample_indices_) == 200


def test_parameters_can_be_cloned_and_set_and_are_checked_when_fitted(toy):
    pruner = clone(InfluencePruner(keep=0.5, **FAST)).set_params(keep=None, fraction=1.5)
    with pytest.raises(InputError, match=r"`fraction=1.5` must lie in \(0, 1\)"):
        pruner.fit(*toy[:2])
    with pytest.raises(TypeError, match="unexpected keyword argument 'fracton'; the options are fraction, keep"):
        InfluencePruner(fracton=0.5)


def test_a_random_state_gives_new_draws_and_a_number_the_same(toy):
    options = {"method": "random", "keep": 0.5, "l2": 1e-2}

    def rows(state):
        return InfluencePruner(random_state=state, **options).fit(*toy[:2]).sample_indices_.tolist()

    assert rows(7) == rows(np.int64(7)) != rows(8)
    assert rows(np.random.RandomState(7)) == rows(np.random.RandomState(7))
    assert rows(None) != rows(None)


@pytest.mark.parametrize(
    "form",
    [np.asarray, np.ndarray.tolist, pd.DataFrame, pl.DataFrame, sparse.csr_array, sparse.coo_matrix],
    ids=["array", "list", "pandas", "polars", "csr", "coo"],
)
def test_rows_come_back_in_the_form_they_were_given(toy, form):
    features, labels, _ = toy
    given = form(features)
    if isinstance(given, pd.DataFrame):
        given = given.set_index(np.arange(240) + 1000).rename(columns=str)
    pruner = InfluencePruner(keep=0.5, **FAST)
    kept, kept_labels = pruner.fit_resample(given, pl.Series(labels))
    rows = pruner.sample_indices_
    assert isinstance(kept, sparse.csr_matrix if form is sparse.coo_matrix else type(given))
    assert np.allclose(kept.toarray() if sparse.issparse(kept) else np.asarray(kept), features[rows])
    assert isinstance(kept_labels, pl.Series)
    assert kept_labels.to_list() == labels[rows].tolist()
    if isinstance(given, pd.DataFrame):
        assert kept.index.tolist() == (rows + 1000).tolist()


def test_frames_with_categories_are_pruned_and_named(toy):
    features, labels, _ = toy
    frame = pd.DataFrame(features, columns=list("abcde")).assign(side=np.where(features[:, 0] > 0, "up", "down"))
    pruner = InfluencePruner(keep=0.5, **FAST)
    kept, _ = pruner.fit_resample(frame, labels)
    pd.testing.assert_frame_equal(kept, frame.iloc[pruner.sample_indices_])
    assert pruner.feature_names_in_.tolist() == [*"abcde", "side"]
    assert pruner.get_feature_names_out().tolist() == [*"abcde", "side"]
    assert pruner.report_.columns == [*"abcde", "side_down", "side_up"]


def test_labels_keep_their_values(toy):
    features, labels, _ = toy
    for values in (np.array([-1, 1, 5]), np.array(["ant", "bee", "cat"])):
        pruner = InfluencePruner(keep=0.5, **FAST)
        _, kept = pruner.fit_resample(features, values[labels])
        names, counts = np.unique(kept, return_counts=True)
        assert pruner.sampling_strategy_ == dict(zip(names.tolist(), counts.tolist(), strict=True))


def test_regression_and_several_labels(toy):
    features, labels, _ = toy
    prices = features @ np.array([[1.0, 0.0], [2, 1], [0, 1], [1, 1], [0, 3]]) + labels[:, None]
    tags = sparse.csr_matrix((features[:, :3] + np.eye(3)[labels] > 0.5).astype(int))
    for loss, targets in (("squared", prices), ("squared", prices[:, 0]), ("sigmoid", tags)):
        pruner = InfluencePruner(keep=0.5, loss=loss, C=1.0, weights=True, threads=1)
        kept, kept_targets = pruner.fit_resample(features, targets)
        assert kept.shape == (120, 5)
        assert kept_targets.shape[1:] == targets.shape[1:]
        assert pruner.report_.certificate.refit_change < 1e-6 * pruner.report_.certificate.head_norm
    with pytest.raises(InputError, match="A matrix of 0 and 1 needs `loss='sigmoid'`"):
        InfluencePruner().fit(features, tags.toarray())
    with pytest.raises(InputError, match="continuous targets give `loss='squared'`"):
        InfluencePruner().fit(features, prices[:, 0])


def test_in_a_pipeline_and_a_search(toy):
    features, labels, (val_features, val_labels) = toy
    steps = [("scale", StandardScaler()), ("prune", InfluencePruner(**FAST)), ("fit", LogisticRegression())]
    search = GridSearchCV(Pipeline(steps), {"prune__keep": [0.3, 0.6], "fit__C": [0.1, 1.0]}, cv=2)
    best = search.fit(features, labels).best_estimator_
    rows = best["prune"].sample_indices_
    assert len(rows) == round(search.best_params_["prune__keep"] * 240)
    oracle = LogisticRegression(C=search.best_params_["fit__C"]).fit(
        best["scale"].transform(features)[rows], labels[rows]
    )
    assert (best.predict(val_features) == oracle.predict(best["scale"].transform(val_features))).all()
    assert search.score(val_features, val_labels) > 0.5


def test_regression_in_a_pipeline(toy):
    features, labels, _ = toy
    prices = features @ np.arange(5.0) + labels
    pipeline = Pipeline([("prune", InfluencePruner(loss="squared", keep=0.5, **FAST)), ("fit", Ridge())])
    rows = pipeline.fit(features, prices)["prune"].sample_indices_
    np.testing.assert_allclose(pipeline["fit"].coef_, Ridge().fit(features[rows], prices[rows]).coef_)


def test_weights_go_into_the_choice(toy):
    features, labels, _ = toy
    given = np.random.default_rng(0).gamma(1.0, size=240) + 0.1
    pruner = InfluencePruner(keep=0.5, **FAST)
    kept, _ = pruner.fit_resample(features, labels, sample_weight=given)
    oracle = leanset.prune(features, labels, keep=0.5, l2=1e-2, proposals=20_000, frontier=False, sample_weight=given)
    np.testing.assert_array_equal(pruner.sample_indices_, oracle.kept)
    np.testing.assert_array_equal(kept, features[oracle.kept])
    np.testing.assert_array_equal(pruner.weights_, given[oracle.kept])


@pytest.mark.parametrize("name", [True, "mass"])
def test_a_pipeline_of_imbalanced_learn_routes_weights_to_the_pruner(toy, name):
    features, labels, _ = toy
    given = np.random.default_rng(0).gamma(1.0, size=240) + 0.1
    with config_context(enable_metadata_routing=True):
        pruner = InfluencePruner(keep=0.5, **FAST).set_fit_resample_request(sample_weight=name)
        pipeline = Pipeline(
            [("prune", clone(pruner)), ("fit", LogisticRegression().set_fit_request(sample_weight=False))]
        )
        rows = pipeline.fit(features, labels, **{"mass" if name == "mass" else "sample_weight": given})[
            "prune"
        ].sample_indices_
    oracle = InfluencePruner(keep=0.5, **FAST).fit(features, labels, given)
    np.testing.assert_array_equal(rows, oracle.sample_indices_)
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        InfluencePruner().set_fit_resample_request(sample_weight=True)


def test_sample_weight_is_routed_past_the_pruner_to_the_score(toy):
    features, labels, _ = toy
    weights = np.where(labels == 0, 100.0, 1e-9)
    pipeline = Pipeline([("prune", InfluencePruner(keep=0.5, **FAST)), ("fit", LogisticRegression())])
    with config_context(enable_metadata_routing=True):
        pipeline.set_params(fit=LogisticRegression().set_fit_request(sample_weight=False))
        pipeline["prune"].set_fit_resample_request(sample_weight=False)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        search = GridSearchCV(pipeline, {"prune__keep": [0.5]}, cv=2, scoring=scorer, refit=False)
        weighted = search.fit(features, labels, sample_weight=weights).cv_results_["mean_test_score"]
        plain = search.fit(features, labels).cv_results_["mean_test_score"]
    assert weighted != pytest.approx(plain)
