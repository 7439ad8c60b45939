"""Every solver meets every problem: joining a tuple is all that a new one needs."""

import numpy as np

from leanset import AdaptiveAnnealing, SimulatedAnnealing
from leanset.problem import BestSetProblem


def _problem(seed, rows, width, counts, n_classes, *, cells=None, spare=None, heavy=False):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(rows, width))
    if heavy:
        vectors *= np.exp(2.0 * rng.normal(size=(rows, 1)))
    labels = np.arange(rows) % n_classes
    removed = np.zeros(rows, dtype=bool)
    for c, count in enumerate(counts):
        removed[np.flatnonzero(labels == c)[:count]] = True
    offset = 0.3 * rng.normal(size=width)
    return BestSetProblem(vectors.astype(np.float32), labels, removed, offset, cells, spare)


PROBLEMS = (
    _problem(0, 12, 2, (2, 2), 2),
    _problem(1, 14, 3, (3, 2), 2, heavy=True),
    _problem(2, 12, 2, (4,), 1),
    _problem(3, 12, 3, (2, 2), 2, cells=np.zeros(12, int), spare=np.array([2, 2])),
    _problem(4, 12, 3, (2, 2, 1), 3, cells=np.zeros(12, int), spare=np.array([0, 1, 3])),
    _problem(5, 13, 1, (3, 3), 2, heavy=True),
    _problem(6, 14, 2, (3, 3), 2, cells=np.repeat([0, 1, 2], [4, 7, 3])),
    _problem(7, 12, 2, (2, 2), 2, cells=np.arange(12) // 4, spare=np.array([1, 0])),
)
SOLVERS = (
    AdaptiveAnnealing(),
    AdaptiveAnnealing(chains=1, proposals=100_000),
    SimulatedAnnealing(proposals=200_000, hot=1.0, cold=1e-4),
)
