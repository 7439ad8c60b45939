"""The checks that scikit-learn and imbalanced-learn run on their own estimators."""

import pytest
from imblearn.utils.estimator_checks import estimator_checks_generator as checks_of_imbalanced_learn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import estimator_checks_generator as checks_of_scikit_learn

from leanset.sklearn import InfluencePruner, PrunedEstimator

SAMPLERS = {"plain": InfluencePruner(threads=1), "weighted": InfluencePruner(threads=1, weights=True)}
MODELS = {
    "classifier": PrunedEstimator(LogisticRegression(), InfluencePruner(threads=1, weights=True)),
    "regressor": PrunedEstimator(Ridge(), InfluencePruner(threads=1, weights=True, loss="squared")),
}
# A weight is the same as copies of a row where the model of all rows is kept. Half of the copies are other rows than half of
# the weighted ones: with 15 rows of 30 features, no weights on half of them can give that model.
EQUIVALENCE = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
SAME_MODEL = {
    "classifier": PrunedEstimator(
        LogisticRegression(solver="newton-cholesky", tol=1e-12), InfluencePruner(threads=1, same_model=True, C=1.0)
    ),
    "regressor": PrunedEstimator(Ridge(), InfluencePruner(threads=1, same_model=True, C=1.0, loss="squared")),
}
# The checks warn on purpose, for example of data that are too small for a fit to converge.
pytestmark = pytest.mark.filterwarnings("ignore")


def checks(generator, estimators, wanted=lambda name: True):
    return [
        pytest.param(estimator, check, id=f"{name}-{check.func.__name__}")
        for name, instance in estimators.items()
        for estimator, check in generator(instance)
        if wanted(check.func.__name__)
    ]


PASSED = [
    *checks(checks_of_scikit_learn, SAMPLERS),
    *checks(checks_of_scikit_learn, MODELS, lambda name: name not in EQUIVALENCE),
    *checks(checks_of_scikit_learn, SAME_MODEL, lambda name: name in EQUIVALENCE),
]


@pytest.mark.parametrize(("estimator", "check"), PASSED)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def test_the_checks_on_weights_are_among_them():
    assert sum(name in str(each.id) for each in PASSED for name in EQUIVALENCE) == 8


@pytest.mark.parametrize(("estimator", "check"), checks(checks_of_imbalanced_learn, SAMPLERS))
def test_imbalanced_learns_checks_pass(estimator, check):
    check(estimator)
