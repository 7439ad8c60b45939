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
# The checks warn on purpose, for example of data that are too small for a fit to converge.
pytestmark = pytest.mark.filterwarnings("ignore")


def checks(generator, estimators):
    return [
        pytest.param(estimator, check, id=f"{name}-{check.func.__name__}")
        for name, instance in estimators.items()
        for estimator, check in generator(instance)
    ]


@pytest.mark.parametrize(("estimator", "check"), checks(checks_of_scikit_learn, SAMPLERS | MODELS))
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "check"), checks(checks_of_imbalanced_learn, SAMPLERS))
def test_imbalanced_learns_checks_pass(estimator, check):
    check(estimator)
