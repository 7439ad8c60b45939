import time

import numpy as np

from leanset._arrays import Mask
from leanset._rng import stream
from leanset.problem import GrowthProblem, Outcome
from leanset.solve import kernels
from leanset.solve.driver import Attempt, Progress, no_progress
from leanset.solve.simulated import SimulatedAnnealing

_SLICE = 100_000  # moves between two looks at the clock


def grow(
    problem: GrowthProblem,
    solver: SimulatedAnnealing,
    *,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Attempt:
    """Solve problem (a) by annealing on the number of removed rows, as the paper does.

    Every visited set satisfies the bound; the largest one is returned. Of the solver's settings, the effort and the
    number of levels apply; temperatures are in units of removed rows here.

    Examples
    --------
    >>> problem = GrowthProblem(np.float32([[1], [-1], [1]]), np.zeros(3, int), 0.5, np.array([2]))
    >>> int(grow(problem, SimulatedAnnealing(proposals=1_000)).removed.sum())
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
    levels, slice_size, tried = solver.levels, -(-solver.proposals // solver.levels), 0
    began = time.perf_counter()
    for level, temperature in enumerate(np.geomspace(1.0, 0.05, levels)):
        total = vectors[removed].sum(axis=0, dtype=np.float64).astype(np.float32)
        while True:
            kernels.grow_set(
                vectors, problem.labels, removed, total, bound, spare, min(slice_size, _SLICE), temperature, state
            )
            tried += min(slice_size, _SLICE)
            share = (
                tried / solver.proposals if solver.seconds is None else (time.perf_counter() - began) / solver.seconds
            )
            if share >= (level + 1) / levels:
                break
        sizes.append(int(removed.sum()))
        if removed.sum() > best.sum() and problem.feasible(removed):
            best = removed.copy()
        progress((level + 1) / levels)
    if not best.any():
        return Attempt(best, Outcome.nothing_fits, tried)
    grew = sizes[-1] > 1.01 * sizes[int(0.9 * levels) - 1]
    return Attempt(best, Outcome.still_improving if grew else Outcome.settled, tried)
