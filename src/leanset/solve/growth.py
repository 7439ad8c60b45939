import numpy as np

from leanset._arrays import Mask
from leanset._rng import stream
from leanset.problem import GrowthProblem, Outcome
from leanset.solve import kernels
from leanset.solve.driver import Attempt, Progress, no_progress


def grow(
    problem: GrowthProblem,
    *,
    proposals: int = 10_000_000,
    levels: int = 50,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Attempt:
    """Solve problem (a) by annealing on the number of removed rows, as the paper does.

    Every visited set satisfies the bound; the largest one is returned.

    Examples
    --------
    >>> problem = GrowthProblem(np.float32([[1], [-1], [1]]), np.zeros(3, int), 0.5, np.array([2]))
    >>> int(grow(problem, proposals=1_000).removed.sum())
    2
    """
    vectors = np.ascontiguousarray(problem.vectors, dtype=np.float32)
    removed = np.zeros(len(vectors), dtype=bool)
    best: Mask = removed.copy()
    spare = problem.capacity.astype(np.int64)
    state = stream(seed, "growth").integers(1, 2**63, size=1, dtype=np.uint64)
    sizes = []
    # The running sum is float32; stopping a hair short of the bound keeps the float64 sum below it too.
    bound = problem.bound * (1 - 1e-5)
    for level, temperature in enumerate(np.geomspace(1.0, 0.05, levels)):
        total = vectors[removed].sum(axis=0, dtype=np.float64).astype(np.float32)
        kernels.grow_set(
            vectors, problem.labels, removed, total, bound, spare, -(-proposals // levels), temperature, state
        )
        sizes.append(int(removed.sum()))
        if removed.sum() > best.sum() and problem.feasible(removed):
            best = removed.copy()
        progress((level + 1) / levels)
    if not best.any():
        return Attempt(best, Outcome.nothing_fits, proposals)
    grew = sizes[-1] > 1.01 * sizes[int(0.9 * levels) - 1]
    return Attempt(best, Outcome.still_improving if grew else Outcome.settled, proposals)
