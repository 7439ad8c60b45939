"""The problem that a linear model of scikit-learn solves, as options of `leanset.prune`.

Each reader refuses what leanset's head cannot be, in one line that says why: a certificate about another model than the
user's would be worse than none.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from leanset._arrays import AnyArray, Rows, Vector, plain_array
from leanset._errors import InputError

_UNTOUCHED = {"penalty": "total", "standardize": False}  # n·l2 stays, and features are as the model sees them


@dataclass(frozen=True)
class Problem:
    """What a model minimises, and over which targets.

    Attributes
    ----------
    options : of `leanset.prune`
    targets : turns the user's y into those that the model fits
    pinned : rows that must stay, so that the model finds all of its classes
    """

    options: dict[str, Any]
    targets: Callable[[Any], Any]
    pinned: Rows


def problem_of(model: Any, y: Any) -> Problem:
    """Return the problem that a model solves; raise if leanset has no head for it.

    Examples
    --------
    >>> problem_of(Ridge(alpha=0.5), [1.0, 2.0]).options["C"]
    2.0
    """
    reader = _READERS.get(type(model))
    if reader is None:
        raise InputError(
            "`prune_for` knows LogisticRegression, RidgeClassifier and Ridge, alone or as the last step of a Pipeline; "
            f"{type(model).__name__} minimises something else. For a search, pass its `best_estimator_`."
        )
    params = model.get_params(deep=False)
    if params.get("positive"):
        raise _refusal(model, "positive", True, "leanset's head bounds no weight")
    return reader(model, params, y)


def weights_for(model: Any, y: Any, sample_weight: Any) -> Vector | None:
    """Return how much each row counts for a model: the given weights times those of its `class_weight`; None if alike.

    Examples
    --------
    >>> weights_for(LogisticRegression(class_weight={0: 1.0, 1: 3.0}), [0, 1, 1], [2.0, 1.0, 2.0]).tolist()
    [2.0, 3.0, 6.0]
    """
    own = None if sample_weight is None else np.asarray(plain_array(sample_weight, "sample_weight"), dtype=np.float64)
    by_class = model.get_params(deep=False).get("class_weight")
    if by_class is None:
        return own
    each = _class_weights(model, by_class, y, own)
    return each if own is None else own * each


def _class_weights(model: Any, by_class: Any, y: Any, own: Vector | None) -> Vector:
    """Return the weight of each row's class. LogisticRegression balances what the classes count, others their numbers."""
    if not isinstance(model, LogisticRegression) or by_class != "balanced":
        return np.asarray(compute_sample_weight(by_class, y))
    labels = plain_array(y, "y").reshape(-1)
    classes, codes = np.unique(labels, return_inverse=True)
    known = inspect.signature(compute_class_weight).parameters  # until scikit-learn 1.6 it counts rows there, too
    given = {"sample_weight": own} if "sample_weight" in known else {}
    return np.asarray(compute_class_weight(by_class, classes=classes, y=labels, **given)[codes])


def _logistic(model: Any, params: dict[str, Any], y: Any) -> Problem:
    if _l1_share(params):
        why = "an L1 penalty has no second derivative, which influences need; use l2"
        name = "l1_ratio" if params.get("penalty") in ("deprecated", "elasticnet") else "penalty"
        raise _refusal(model, name, params[name], why)
    several = type_of_target(y) == "multiclass"
    if params["solver"] == "liblinear" and (params["fit_intercept"] or several):
        why = "one model a class instead of one for all" if several else "a penalty on the intercept, of its own scale"
        raise _refusal(model, "solver", "liblinear", f"it has {why}; use lbfgs")
    if several and params.get("multi_class") == "ovr":  # until scikit-learn 1.7
        raise _refusal(model, "multi_class", "ovr", "it is one model a class instead of one for all")
    unpenalised = params.get("penalty", "l2") is None or np.isinf(params["C"])
    strength = {"l2": 0.0} if unpenalised else {"C": float(params["C"])}
    return Problem(_options(model, params, strength, "softmax"), _same, np.zeros(0, dtype=np.int64))


def _l1_share(params: dict[str, Any]) -> float:
    """Return the share of the L1 penalty; `penalty` said it until scikit-learn 1.7, and `l1_ratio` says it from 1.8 on."""
    penalty = params.get("penalty", "deprecated")
    if penalty in ("deprecated", "elasticnet"):
        return float(params.get("l1_ratio") or 0.0)
    return float(penalty == "l1")


def _ridge(model: Any, params: dict[str, Any], y: Any) -> Problem:
    return Problem(_options(model, params, _strength(model, params), "squared"), _same, np.zeros(0, dtype=np.int64))


def _ridge_classifier(model: Any, params: dict[str, Any], y: Any) -> Problem:
    """Read a ridge on targets of 1 and −1, one column a class, or a single one for two classes."""
    binarizer = LabelBinarizer(pos_label=1, neg_label=-1).fit(y)
    labels: AnyArray = plain_array(y, "y")
    several = labels.ndim == 2 and labels.shape[1] > 1
    pinned = np.zeros(0, dtype=np.int64) if several else np.unique(labels, return_index=True)[1]
    options = _options(model, params, _strength(model, params), "squared")
    return Problem(options, lambda given: binarizer.transform(given).astype(np.float64), pinned)


def _strength(model: Any, params: dict[str, Any]) -> dict[str, float]:
    alpha = np.unique(params["alpha"])
    if len(alpha) > 1:
        raise _refusal(model, "alpha", params["alpha"], "leanset's head has one penalty for all targets")
    return {"C": 1.0 / float(alpha[0])} if alpha[0] else {"l2": 0.0}


def _options(model: Any, params: dict[str, Any], strength: dict[str, float], loss: str) -> dict[str, Any]:
    bias = bool(params["fit_intercept"])
    if not bias and "l2" in strength:
        raise _refusal(model, "fit_intercept", False, "without a penalty leanset's head needs a bias")
    return _UNTOUCHED | strength | {"loss": loss, "bias": bias, "penalise_bias": not bias}


def _same(y: Any) -> Any:
    return y


def _refusal(model: Any, name: str, value: Any, why: str) -> InputError:
    return InputError(f"`{type(model).__name__}({name}={value!r})` cannot be pruned for: {why}.")


# By exact class: a subclass may minimise something else, as LogisticRegressionCV does.
_READERS: dict[type, Callable[[Any, dict[str, Any], Any], Problem]] = {
    LogisticRegression: _logistic,
    Ridge: _ridge,
    RidgeClassifier: _ridge_classifier,
}
