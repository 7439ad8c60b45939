from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from leanset._arrays import plain_array
from leanset._errors import InputError
from leanset.estimators.problems import problem_of, weights_for
from leanset.pruning import prune
from leanset.result import PruneResult


def prune_for(estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, **options: Any) -> PruneResult:
    """Prune for a model of scikit-learn, so that the certificate is about that very model.

    The loss, the penalty, the intercept and the `class_weight` are read from the estimator. The transformers of a pipeline are
    used as they are if it is fitted, and fitted on all rows otherwise; keep them as they are when you fit the last step on the
    kept rows. With `weights=True` or `same_model=True`, that fit has the `coef_` of all rows, wherever weights can achieve it.

    The weights of the result are the products of `sample_weight`, of the weights of the classes and of leanset's own. So fit
    the kept rows with them as `sample_weight`, and without `class_weight`, which would count the classes twice.

    Parameters
    ----------
    estimator : LogisticRegression, RidgeClassifier or Ridge, or a Pipeline that ends in one; fitted or not
    X, y, sample_weight : all rows, as the estimator takes them
    options : a budget and other options of `leanset.prune`, except those that the estimator answers

    Returns
    -------
    A `leanset.PruneResult`. The labels of a RidgeClassifier, which fits numbers, are shown as given.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from leanset.sklearn import prune_for
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=10_000)).fit(X, y)
    >>> result = prune_for(model, X, y, keep=0.5, weights=True, frontier=False)
    >>> scaled = model[:-1].transform(X)[result.kept]
    >>> lean = LogisticRegression(tol=1e-8, max_iter=10_000).fit(scaled, y[result.kept], sample_weight=result.weights)
    >>> bool(np.allclose(lean.coef_, model[-1].coef_, atol=1e-5))
    True
    """
    model, transformed = _last_step(estimator, X, y)
    problem = problem_of(model, y)
    weight = weights_for(model, y, sample_weight)
    answered = [name for name in options if name in {"C", "l2"} | problem.options.keys()]
    if answered:
        raise InputError(
            f"`{answered[0]}={options[answered[0]]!r}` is read from {type(model).__name__}; do not give it."
        )
    if options.get("validation") is not None:
        features, labels = options["validation"]
        options["validation"] = (transformed(features), problem.targets(labels))
    if len(problem.pinned):
        options["pinned"] = np.union1d(problem.pinned, _row_numbers(options.get("pinned")))
    result = prune(transformed(X), problem.targets(y), sample_weight=weight, **options, **problem.options)
    return replace(result, labels=plain_array(y, "y").astype(str)) if len(problem.pinned) else result


def _last_step(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return the model, and a function that turns rows into its features."""
    if not isinstance(estimator, Pipeline):
        return estimator, _numbers
    if any(hasattr(step, "fit_resample") for _, step in estimator.steps):
        raise InputError("`prune_for` cannot take a Pipeline that resamples; take the sampler out, and resample first.")
    if len(estimator.steps) == 1:
        return estimator[-1], _numbers
    before = estimator[:-1]
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        before = clone(before).fit(X, y)
    return estimator[-1], lambda rows: _numbers(before.transform(rows))


def _numbers(rows: Any) -> Any:
    """Return features as a linear model reads them: one number a column, whatever a frame says about its columns."""
    return check_array(rows, accept_sparse=True)


def _row_numbers(pinned: Any) -> Any:
    values = np.zeros(0, dtype=np.int64) if pinned is None else np.asarray(pinned)
    return np.flatnonzero(values) if values.dtype == bool else values
