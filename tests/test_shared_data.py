"""The figures that leanset promises, on real data; skipped where the shared data folder is absent."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import leanset

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def run(cifar_head):
    data = np.load(cifar_head)
    validation = data["val_features"], data["val_labels"]
    result = leanset.prune(data["features"], data["labels"], fraction=0.4, validation=validation, frontier=False)
    return data, result


def test_measured_change_agrees_with_scikit_learn(run):
    data, result = run
    features = data["features"].astype(np.float64)
    x = np.column_stack([(features - features.mean(axis=0)) / features.std(axis=0), np.ones(len(features))])

    def fit(rows):
        model = LogisticRegression(
            C=1 / (len(x) * result.certificate.l2), fit_intercept=False, tol=1e-7, max_iter=3000, solver="newton-cg"
        )
        return model.fit(x[rows], data["labels"][rows]).coef_

    change = np.linalg.norm(fit(result.kept) - fit(np.arange(len(x))))
    assert result.certificate.refit_change == pytest.approx(change, rel=0.01)


def test_newton_step_is_within_a_tenth(run):
    certificate = run[1].certificate
    assert certificate.newton_change == pytest.approx(certificate.refit_change, rel=0.1)


def test_ten_times_below_random_with_class_balance(run):
    data, result = run
    assert result.certificate.refit_change <= result.certificate.random_refit_change_mean / 10
    assert (np.bincount(data["labels"][result.removed]) == 2000).all()


def test_the_estimate_is_of_the_right_order(cifar_head):
    cost = leanset.estimate(str(cifar_head), fraction=0.4)
    assert 10 < cost.seconds < 300
    assert 2e8 < cost.memory < 2e9
