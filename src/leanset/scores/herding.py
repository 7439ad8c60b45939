from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset.scores._groups import group_by_group, unselected_first
from leanset.scores._products import Products
from leanset.scores.contract import Evidence, Method, Needs


@dataclass(frozen=True)
class Herding(Method):
    """Keep the examples whose mean feature best matches the mean of their group (Welling 2009).

    Each group (class) is treated by itself. The k-th example kept brings the mean of the first k closest to the group's
    mean. What goes: examples that were not needed to match the mean, then the selected ones, the last selected first.

    Examples
    --------
    >>> evidence = Evidence(groups=np.zeros(5, dtype=int), features=np.array([[-2.0], [-1.0], [0.1], [1.0], [2.0]]))
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
        return group_by_group(
            evidence.groups, count, rng, lambda rows, gone: rows[_herded(features[rows], len(rows) - gone)]
        )


def _herded(features: AnyArray, keep: int) -> Rows:
    # With features measured from the mean, ‖μ − (Σ selected + h)/k‖ is ‖Σ selected + h‖/k. So the best h has the smallest
    # ‖h‖² + 2⟨h, Σ selected⟩, and each selection adds one row of inner products to that.
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
