from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from leanset._arrays import AnyArray, Rows, Vector, plain_array
from leanset.data import is_frame
from leanset.estimators.parameters import OPTIONS, with_prune_options
from leanset.estimators.tags import TagsOfSampler, sampler_tags
from leanset.head import LOSSES
from leanset.pruning import prune
from leanset.result import PruneResult
from leanset.select import BUDGETS

_BY_DEFAULT = {"fraction": 0.5}  # the budget of a sampler that is given none


@with_prune_options(random_state=0)
class InfluencePruner(OneToOneFeatureMixin, BaseEstimator):
    """A sampler for imbalanced-learn that keeps the rows without which the head would change, and certifies the effect.

    It has the options of `leanset.prune` as parameters. Without a budget it removes half of the rows. It works in
    imbalanced-learn's pipelines and in scikit-learn's searches, and needs scikit-learn only.

    Parameters
    ----------
    {options}
    random_state : int, RandomState or None, as in scikit-learn; seed of all random draws

    Attributes
    ----------
    sample_indices_ : row numbers of the kept examples, ascending
    weights_ : their weights for `sample_weight`: all 1 unless `weights` or `same_model` is asked for, times the
        `sample_weight` that was given to `fit`, if any
    report_ : the `leanset.PruneResult`, with the certificate
    sampling_strategy_ : number of kept rows of each class; with the loss for classes only
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    PrunedEstimator : fits an estimator on the kept rows with their weights, which a pipeline does not pass on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from leanset.sklearn import InfluencePruner
    >>> X, y = load_iris(return_X_y=True)
    >>> pruner = InfluencePruner(keep=0.4, C=1.0)
    >>> X_kept, y_kept = pruner.fit_resample(X, y)
    >>> X_kept.shape, bool((X[pruner.sample_indices_] == X_kept).all())
    ((60, 4), True)
    >>> pruner.report_.certificate.refit_change < pruner.report_.certificate.random_refit_change_mean
    True
    """

    loss: str
    random_state: Any
    sample_indices_: Rows
    weights_: Vector
    report_: PruneResult
    sampling_strategy_: dict[Any, int]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the rows to keep.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or data frame, of which categories become one feature for each value
        y : (n,) classes, also one-vs-all; a 0/1 matrix with loss="sigmoid"; numbers with loss="squared"
        sample_weight : (n,) how much each row counts; all alike if None
        """
        features, targets = self._checked(X, y)
        self.report_ = prune(features, targets, sample_weight=sample_weight, **self._options())
        self.sample_indices_ = self.report_.kept
        self.weights_ = self.report_.weights
        if self._has_classes:
            kept = plain_array(targets, "y").reshape(-1)[self.sample_indices_]
            classes, counts = np.unique(kept, return_counts=True)
            self.sampling_strategy_ = dict(zip(classes.tolist(), counts.tolist(), strict=True))
        return self

    def fit_resample(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        """Find the rows to keep, and return these rows of X and y in the form in which they were given.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`; fit what comes next with `weights_`
        """
        self.fit(X, y, sample_weight)
        return rows_of(X, self.sample_indices_), rows_of(y, self.sample_indices_)

    def set_fit_resample_request(self, *, sample_weight: bool | str | None) -> Self:
        """Say whether a pipeline of imbalanced-learn hands `sample_weight` to `fit_resample`, as `set_fit_request` does.

        imbalanced-learn adds such a method to classes that are made after it was imported, which is not sure here. Its
        pipelines ask for the request of `fit`, too, which is the same choice of rows; so this sets both.

        Parameters
        ----------
        sample_weight : True, False, None to refuse weights, or the name that the pipeline is given them by
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "metadata routing is off; enable it with sklearn.set_config(enable_metadata_routing=True)."
            )
        requests = self.get_metadata_routing()
        if not hasattr(requests, "fit_resample"):
            raise RuntimeError("`set_fit_resample_request` needs imbalanced-learn, which is not imported.")
        for method in (requests.fit, requests.fit_resample):
            method.add_request(param="sample_weight", alias=sample_weight)
        self._metadata_request = requests
        return self

    def __sklearn_tags__(self) -> TagsOfSampler:
        return sampler_tags(super().__sklearn_tags__())

    @property
    def _has_classes(self) -> bool:
        return self.loss in LOSSES and LOSSES[self.loss].targets == "classes"

    def _options(self) -> dict[str, Any]:
        """Return the options of `leanset.prune`."""
        options = {name: getattr(self, name) for name in OPTIONS}
        state = self.random_state
        seed = int(state) if isinstance(state, Integral) else int(check_random_state(state).randint(2**31 - 1))
        without = all(options[name] in (None, False) for name in BUDGETS)
        return options | (_BY_DEFAULT if without else {}) | {"seed": seed}

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Check X and y as scikit-learn does; leanset reads the columns of frames by itself."""
        if is_frame(X):
            validate_data(self, X, y, skip_check_array=True)
            return X, _without_one_vs_all(y) if self._has_classes else y
        features, _ = validate_data(self, X, y, accept_sparse=("csr", "csc"), multi_output=True, ensure_min_samples=2)
        return features, _without_one_vs_all(y) if self._has_classes else y


def rows_of(values: Any, rows: Rows) -> Any:
    """Return some rows of an array, a sparse matrix, a frame or a list, as the same kind of object."""
    if hasattr(values, "tocsr"):
        values = values.tocsr()  # some sparse formats have no rows to take
    return _safe_indexing(values if hasattr(values, "__getitem__") else np.asarray(values), rows)


def _without_one_vs_all(y: Any) -> Any:
    """Return classes in place of a 0/1 matrix that has one 1 in each row; anything else as it is."""
    if y is None or type_of_target(y) != "multilabel-indicator":
        return y
    matrix: AnyArray = y.toarray() if hasattr(y, "toarray") else plain_array(y, "y")
    return matrix.argmax(axis=1) if (matrix.sum(axis=1) == 1).all() else y
