from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset.scores._classes import class_by_class, unselected_first
from leanset.scores._products import Products
from leanset.scores.contract import Evidence, Method, Needs


@dataclass(frozen=True)
class Herding(Method):
    """Keep, in each class, the examples whose mean feature follows the mean of the class (Welling 2009).

    The k-th example kept is the one that brings the mean of the first k closest to the class mean. What goes: examples
    that were not needed to match the mean, the last selected first.

    Examples
    --------
    >>> evidence = Evidence(labels=np.zeros(5, dtype=int), features=np.array([[-2.0], [-1.0], [0.1], [1.0], [2.0]]))
    >>> int(Herding().preference(evidence, 4, np.random.default_rng(0))[-1])  # the example nearest to the mean stays
    2

    References
    ----------
    Welling, *Herding dynamical weights to learn*, ICML 2009.
    """

    name: ClassVar[str] = "herding"
    needs: ClassVar[Needs] = ("features",)

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        assert evidence.features is not None  # checked by `preference`
        features = evidence.features
        return class_by_class(
            evidence.labels, count, rng, lambda rows, gone: rows[_herded(features[rows], len(rows) - gone)]
        )


def _herded(features: AnyArray, keep: int) -> Rows:
    # Measured from the class mean, ‖μ − (Σ selected + h)/k‖ is ‖Σ selected + h‖/k, so that the best h has the least
    # ‖h‖² + 2⟨h, Σ selected⟩; a selection adds one row of inner products to that.
    products = Products.of(features, reads=keep)
    cost = products.squares.copy()
    selected: list[int] = []
    for _ in range(keep):
        best = int(cost.argmin())
        selected.append(best)
        cost += 2.0 * products.row(best)
        cost[best] = np.inf
    left = np.flatnonzero(np.isfinite(cost))
    return unselected_first(selected, left[np.argsort(-cost[left], kind="stable")])
