from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset.scores._groups import unselected_first
from leanset.scores._products import Products
from leanset.scores.contract import Evidence, Method, Needs


@dataclass(frozen=True)
class KCenterGreedy(Method):
    """Keep examples that cover feature space: each next one is the farthest from those kept (Sener & Savarese 2018).

    The first example kept is the one nearest to the mean. What goes: examples close to a kept one, the closest first. Up
    to about 11,000 rows all distances are computed at once; beyond that each kept example costs a pass over the
    features.

    Examples
    --------
    >>> evidence = Evidence(groups=np.zeros(4, dtype=int), features=np.array([[0.0], [0.1], [5.0], [-4.0]]))
    >>> KCenterGreedy().preference(evidence, 1, np.random.default_rng(0)).tolist()
    [0, 3, 2, 1]

    References
    ----------
    Sener and Savarese, *Active learning for convolutional neural networks: a core-set approach*, ICLR 2018.
    """

    name: ClassVar[str] = "k-center"
    needs: ClassVar[Needs] = ("features",)

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        assert evidence.features is not None  # checked by `preference`
        rows = rng.permutation(len(evidence))
        return rows[_farthest_first(evidence.features[rows], len(rows) - count)]


def _farthest_first(features: AnyArray, keep: int) -> Rows:
    products = Products.of(features, reads=keep)
    squares = products.squares
    nearest = np.full(len(squares), np.inf)  # squared distance to the nearest selected point; −inf once selected
    selected: list[int] = []
    for _ in range(keep):
        best = int(nearest.argmax()) if selected else int(squares.argmin())
        selected.append(best)
        np.minimum(nearest, squares - 2.0 * products.row(best) + squares[best], out=nearest)
        nearest[best] = -np.inf
    left = np.flatnonzero(nearest > -np.inf)
    return unselected_first(selected, left[np.argsort(nearest[left], kind="stable")])
