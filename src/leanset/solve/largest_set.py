import time

import numpy as np

from leanset._arrays import Mask
from leanset._rng import stream
from leanset.problem import LargestSetProblem, Outcome, Removal
from leanset.solve.driver import Progress, no_progress

_SLICE = 100_000  # moves between two checks of the time


def largest_set(
    problem: LargestSetProblem,
    *,
    proposals: int,
    levels: int = 50,
    seconds: float | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Removal:
    """Solve problem (a) by annealing on the number of removed rows, as the paper does.

    Every visited set satisfies the bound; the largest one is returned. Temperatures are in units of removed rows.

    Examples
    --------
    >>> problem = LargestSetProblem(np.float32([[1], [-1], [1]]), np.zeros(3, int), 0.5, np.array([2]))
    >>> largest_set(problem, proposals=1_000).count
    2
    """
    from leanset.solve import kernels  # numba, which takes long to import, is needed only where something is searched

    vectors = np.ascontiguousarray(problem.vectors, dtype=np.float32)
    removed = np.zeros(len(vectors), dtype=bool)
    best: Mask = removed.copy()
    spare = problem.capacity.astype(np.int64)
    state = stream(seed, "growth").integers(1, 2**63, size=1, dtype=np.uint64)
    sizes = []
    # The running sum is float32; a slightly smaller bound keeps the float64 sum within the true one.
    bound = problem.bound * (1 - 1e-5)
    slice_size, tried = -(-proposals // levels), 0
    began = time.perf_counter()
    for level, temperature in enumerate(np.geomspace(1.0, 0.05, levels)):
        total = vectors[removed].sum(axis=0, dtype=np.float64).astype(np.float32)
        while True:
            kernels.grow_set(
                vectors, problem.groups, removed, total, bound, spare, min(slice_size, _SLICE), temperature, state
            )
            tried += min(slice_size, _SLICE)
            share = tried / proposals if seconds is None else (time.perf_counter() - began) / seconds
            if share >= (level + 1) / levels:
                break
        sizes.append(int(removed.sum()))
        if removed.sum() > best.sum() and problem.feasible(removed):
            best = removed.copy()
        progress((level + 1) / levels)
    if not best.any():
        return Removal(best, Outcome.nothing_fits, proposals=tried)
    grew = sizes[-1] > 1.01 * sizes[int(0.9 * levels) - 1]
    return Removal(best, Outcome.still_improving if grew else Outcome.settled, proposals=tried)
