from typing import Any, Self

from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from leanset._arrays import AnyArray
from leanset.estimators.pruner import InfluencePruner, rows_of


def _estimator_has(name: str) -> Any:
    """Return a check that the wrapped estimator has a method, so that the wrapper has it too or has it not."""

    def check(self: "PrunedEstimator") -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


class PrunedEstimator(MetaEstimatorMixin, BaseEstimator):
    """An estimator that is fitted on the rows a pruner keeps, with the pruner's weights as its `sample_weight`.

    A pipeline of imbalanced-learn passes on rows but no weights; this passes on both. Put scalers before it in a pipeline,
    so that they see all rows. In place of a pipeline as `estimator`, its last step gets the weights; where metadata
    routing is enabled, the steps that request `sample_weight` do. A `sample_weight` of your own goes into `fit`: the pruner
    sees it, and the estimator gets its product with the pruner's weights.

    Parameters
    ----------
    estimator : what to fit; it must take `sample_weight` if the pruner gives weights
    pruner : an `InfluencePruner`; half of the rows with weights if None

    Attributes
    ----------
    estimator_, pruner_ : both, fitted

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from leanset.sklearn import InfluencePruner, PrunedEstimator
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=1.0, tol=1e-8, max_iter=10_000)
    >>> lean = PrunedEstimator(model, InfluencePruner(keep=0.5, C=1.0, weights=True)).fit(X, y)
    >>> bool(np.allclose(lean.estimator_.coef_, model.fit(X, y).coef_, atol=1e-4)), len(lean.pruner_.sample_indices_)
    (True, 75)
    """

    def __init__(self, estimator: Any, pruner: InfluencePruner | None = None) -> None:
        self.estimator = estimator
        self.pruner = pruner

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the rows to keep, and fit the estimator on them.

        Parameters
        ----------
        X, y, sample_weight : as for `InfluencePruner.fit`, and as the estimator takes them
        """
        pruner = InfluencePruner(weights=True) if self.pruner is None else clone(self.pruner)
        self.pruner_ = pruner.fit(X, y, sample_weight)
        kept, weighted = self.pruner_.sample_indices_, self.pruner_.report_.certificate.has_weights
        weights = {self._weight_name(): self.pruner_.weights_} if weighted else {}
        self.estimator_ = clone(self.estimator).fit(rows_of(X, kept), rows_of(y, kept), **weights)
        return self

    def _weight_name(self) -> str:
        """Return what the estimator calls weights: without routing, a pipeline wants to know for which step they are."""
        steps = getattr(self.estimator, "steps", None)
        routed = get_config()["enable_metadata_routing"]
        return "sample_weight" if steps is None or routed else f"{steps[-1][0]}__sample_weight"

    @available_if(_estimator_has("predict"))
    def predict(self, X: Any) -> AnyArray:
        """Return the predictions of the fitted estimator."""
        return self._fitted("predict")(X)  # type: ignore[no-any-return]

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> AnyArray:
        """Return the probabilities of the fitted estimator."""
        return self._fitted("predict_proba")(X)  # type: ignore[no-any-return]

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> AnyArray:
        """Return the outputs of the fitted estimator."""
        return self._fitted("decision_function")(X)  # type: ignore[no-any-return]

    @available_if(_estimator_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the fitted estimator."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._fitted("score")(X, y, **weights))

    def _fitted(self, name: str) -> Any:
        check_is_fitted(self)
        return getattr(self.estimator_, name)

    @property
    def classes_(self) -> AnyArray:
        """The classes of the fitted estimator."""
        return self.estimator_.classes_  # type: ignore[no-any-return]

    @property
    def n_features_in_(self) -> int:
        """The number of columns of X."""
        return self.pruner_.n_features_in_  # type: ignore[no-any-return]

    @property
    def feature_names_in_(self) -> AnyArray:
        """The names of the columns of X, if it was a frame."""
        return self.pruner_.feature_names_in_  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Tags:
        own, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        own.estimator_type, own.classifier_tags = inner.estimator_type, inner.classifier_tags
        own.regressor_tags, own.target_tags, own.input_tags = inner.regressor_tags, inner.target_tags, inner.input_tags
        own.target_tags.required = True
        return own
