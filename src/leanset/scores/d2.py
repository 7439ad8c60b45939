import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from leanset._arrays import Rows, Vector
from leanset._errors import InputError
from leanset.scores._groups import unselected_first
from leanset.scores._neighbours import neighbour_graph
from leanset.scores.contract import Evidence, Method, Needs, Score, checked_difficulty, checked_whole
from leanset.scores.forgetting import Forgetting

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True)
class D2(Method):
    """Difficulty and diversity by messages on a graph of nearest neighbours (Maharana et al. 2024).

    Forward: each example adds its neighbours' difficulty to its own, each times exp(−γf·d²). Reverse: the example of
    highest value is kept, and exp(−γr·d²) times its value is subtracted from each neighbour; this repeats until enough
    are kept. What goes: easy examples, and examples similar to a kept one.

    The graph is undirected: two rows are joined if either is among the other's nearest. Differences from the paper:
    d² is divided by the mean squared distance along the edges, so that γ means the same for features of any scale;
    difficulty is mapped to the range 0 to 1, which changes nothing for a score whose smallest value is 0.

    Parameters
    ----------
    score : measures difficulty; must know its hard end. Its `remove` is ignored
    neighbours : nearest neighbours of each example
    gamma_forward : how fast forward messages fade with distance
    gamma_reverse : how fast reverse messages fade with distance; larger values give diversity less weight

    Examples
    --------
    >>> from leanset.scores import GraNd
    >>> evidence = Evidence(
    ...     groups=np.zeros(4, dtype=int),
    ...     features=np.array([[0.0], [0.1], [9.0], [9.2]]),
    ...     gradient_norm=np.array([4.0, 3.0, 1.0, 2.0]),
    ... )
    >>> order = D2(score=GraNd(), neighbours=1, gamma_reverse=0.0).preference(evidence, 2, np.random.default_rng(0))
    >>> sorted(order[2:].tolist())  # the hardest of each pair, not the two hardest
    [0, 3]

    References
    ----------
    Maharana, Yadav and Bansal, *D2 pruning: message passing for balancing diversity and difficulty in data pruning*,
    ICLR 2024.
    """

    name: ClassVar[str] = "d2"
    needs: ClassVar[Needs] = ("features",)

    score: Score = field(default_factory=Forgetting)
    neighbours: int = 10
    gamma_forward: float = 1.0
    gamma_reverse: float = 1.0

    def __post_init__(self) -> None:
        checked_whole("D2", neighbours=self.neighbours)
        for name, value in (("gamma_forward", self.gamma_forward), ("gamma_reverse", self.gamma_reverse)):
            if not 0 <= value < np.inf:
                raise InputError(f"`D2({name}={value})` must be a finite number ≥ 0.")
        checked_difficulty("D2", self.score)

    def all_needs(self) -> Needs:
        """Return features and what the score needs."""
        return (*self.needs, *self.score.all_needs())

    def _order(self, evidence: Evidence, count: int, rng: np.random.Generator) -> Rows:
        assert evidence.features is not None  # checked by `preference`
        graph = neighbour_graph(evidence.features, self.neighbours)
        difficulty = self.score.difficulty(evidence)
        level = (difficulty - difficulty.min()) / (np.ptp(difficulty) or 1.0)
        value = level + _faded(graph, self.gamma_forward) @ level
        ties = rng.permutation(len(evidence))
        selected, left = _select(_faded(graph, self.gamma_reverse), value, len(evidence) - count, ties)
        rest = np.setdiff1d(np.arange(len(evidence)), selected)
        return unselected_first(selected, rest[np.lexsort((ties[rest], left[rest]))])


def _faded(graph: "sparse.csr_array", gamma: float) -> "sparse.csr_array":
    return type(graph)((graph.data**gamma, graph.indices, graph.indptr), shape=graph.shape)


def _select(graph: "sparse.csr_array", value: Vector, keep: int, ties: Rows) -> tuple[list[int], Vector]:
    # A changed value is pushed again; its old entry is skipped when it comes up. Values can also rise (a message from a
    # negative value), so an old entry is no upper bound and cannot be corrected only when it comes up.
    value = value.copy()
    heap = [(-x, int(ties[i]), i) for i, x in enumerate(value.tolist())]
    heapq.heapify(heap)
    open_rows, selected = np.ones(len(value), dtype=bool), list[int]()
    while len(selected) < keep:
        negative, _, best = heapq.heappop(heap)
        if not open_rows[best] or -negative != value[best]:
            continue
        open_rows[best] = False
        selected.append(best)
        edges = slice(graph.indptr[best], graph.indptr[best + 1])
        for j, weight in zip(graph.indices[edges].tolist(), graph.data[edges].tolist(), strict=True):
            if open_rows[j]:
                value[j] -= weight * value[best]
                heapq.heappush(heap, (-float(value[j]), int(ties[j]), j))
    return selected, value
