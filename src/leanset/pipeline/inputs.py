from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Matrix
from leanset._errors import InputError
from leanset.data import Examples, array_digest, checked_examples
from leanset.head.statistics import HeadStatistics
from leanset.scores import Evidence, Method

DEFAULT_L2 = 1e-4


@dataclass(frozen=True)
class Inputs:
    """What a run is made from: the examples, where the head starts, and what was recorded of a training.

    Attributes
    ----------
    examples : features and labels
    l2, standardize : of the head's problem
    start : (C, d+1) weights of a head for the features as given, or None
    logits : (n, C) the network's own, or None
    recorded : evidence that cannot be computed from features and logits
    """

    examples: Examples
    l2: float
    standardize: bool
    start: Matrix | None
    logits: AnyArray | None
    recorded: Evidence

    @property
    def start_digest(self) -> str | None:
        """Digest of the head to start from."""
        return None if self.start is None else array_digest(self.start)

    def recorded_digest(self, method: Method) -> str | None:
        """Digest of what a method sees of a training; None if it sees nothing of it."""
        needs = {name for need in method.all_needs() for name in ((need,) if isinstance(need, str) else need)}
        arrays = [self.logits] if "probability" in needs else []
        arrays += [self.recorded.gradient_norm] if "gradient_norm" in needs else []
        for record in (self.recorded.dynamics or ()) if "dynamics" in needs else ():
            arrays += [getattr(record, name) for name in record.names()]
        given = [array for array in arrays if array is not None]
        return array_digest(*given) if given else None


def inputs_from(
    features: ArrayLike | Examples | HeadStatistics,
    labels: ArrayLike | None = None,
    *,
    validation: tuple[ArrayLike, ArrayLike] | None = None,
    head: ArrayLike | None = None,
    l2: float | None = None,
    standardize: bool | None = None,
) -> Inputs:
    """Bring the ways to hand data in to one form.

    Arrays are standardised and get leanset's own l2. A network's statistics are taken as the network saw them: raw
    features, its weight decay as l2, and its head as the start.
    """
    if isinstance(features, Examples | HeadStatistics):
        if labels is not None or validation is not None:
            raise InputError(
                f"`{type(features).__name__}` brings its own labels and validation data; pass nothing beside it."
            )
        examples = features if isinstance(features, Examples) else features.examples()
    else:
        if labels is None:
            raise InputError("`labels` are missing: call `leanset.prune(features, labels, ...)`.")
        examples = checked_examples(features, labels, validation)
    dynamics, gradient_norm, logits = None, None, None
    if isinstance(features, HeadStatistics):
        dynamics, gradient_norm, logits = features.dynamics or None, features.gradient_norm, features.logits
        l2 = features.weight_decay if l2 is None else l2
        head = features.head if head is None else head
    return Inputs(
        examples,
        DEFAULT_L2 if l2 is None else l2,
        not isinstance(features, HeadStatistics) if standardize is None else bool(standardize),
        None if head is None else _checked_head(head, (len(examples.classes), examples.features.shape[1] + 1)),
        logits,
        Evidence(labels=examples.labels, dynamics=dynamics, gradient_norm=gradient_norm),
    )


def _checked_head(head: ArrayLike, shape: tuple[int, int]) -> Matrix:
    try:
        weights = np.asarray(head, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != shape or not np.isfinite(weights).all():
        raise InputError(
            f"`head=` must be a finite {shape} array, one row a class and the bias as last column; got shape {weights.shape}."
        )
    return weights
