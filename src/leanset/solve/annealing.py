import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Mask, Rows, sum_of_rows
from leanset.problem import BestSetProblem, Outcome, Removal

_SLICE = 100_000  # proposals between two checks of the stop flag, about 30 ms
_TIMED_SLICE = 10_000  # the same with a time limit
_RECORDED_ROWS = 1000  # problems up to this size record the best set visited, which costs a copy each time


@dataclass(frozen=True)
class Level:
    """One temperature of a schedule: which rows move, with which partners, and for how many proposals."""

    temperature: float
    movers: Rows
    quiet: Rows
    quiet_share: float
    proposals: int


def anneal(
    problem: BestSetProblem,
    levels: Sequence[Level],
    rng: np.random.Generator,
    *,
    seconds: float | None,
    report: Callable[[int], None],  # called with the number of proposals tried so far
    stopped: Callable[[], bool],
) -> Removal:
    """Anneal through the levels; with `seconds`, each level runs for its share of the time instead of its proposals."""
    from leanset.solve import kernels  # numba, which takes long to import, is needed only where something is searched

    removed = problem.removed.copy()
    state = rng.integers(1, 2**63, size=1, dtype=np.uint64)
    spare = _spare(problem)
    vectors = np.ascontiguousarray(problem.vectors, dtype=np.float32)
    norms, tried = [], 0
    best = removed.copy() if len(removed) <= _RECORDED_ROWS else removed[:0].copy()
    energies = np.array([0.0, problem.norm(removed) ** 2])
    shares = np.cumsum([level.proposals for level in levels]) / sum(level.proposals for level in levels)
    exact, began = problem.total(removed), time.perf_counter()
    for level, share in zip(levels, shares, strict=True):
        total = exact.astype(np.float32)  # recomputed at each level, so that float32 errors do not accumulate
        before = removed.copy()
        energies[0] = float(exact @ exact)
        segments = _segments(level, problem.exchange_cells, removed)
        deadline = None if seconds is None else began + seconds * share
        done = 0
        while not stopped() and (done < level.proposals if deadline is None else time.perf_counter() < deadline):
            size = _TIMED_SLICE if deadline is not None else min(_SLICE, level.proposals - done)
            kernels.anneal(  # type: ignore[call-arg]  # the stubs do not see through the decorator
                vectors, problem.groups, removed, total, level.movers, problem.exchange_cells, *segments, spare,
                level.quiet_share, size, level.temperature, best, energies, state,
            )  # fmt: skip
            done += size
            report(tried + done)
        tried += done
        entered, left = removed & ~before, before & ~removed
        exact += sum_of_rows(vectors, entered) - sum_of_rows(vectors, left)
        norms.append(float(np.linalg.norm(exact)))
    outcome = _outcome_of(norms)
    if len(best) and problem.norm(best) < norms[-1]:
        removed = best
    return Removal(removed, outcome, norm=problem.norm(removed), proposals=tried)


def _outcome_of(norms: Sequence[float]) -> Outcome:
    """Return whether the search settled, judged by the objective after each level."""
    before = norms[max(0, int(0.9 * len(norms)) - 1)]
    return Outcome.settled if norms[-1] >= 0.99 * before else Outcome.still_improving


def _spare(problem: BestSetProblem) -> Rows:
    if problem.spare is None:
        return np.full(int(problem.groups.max(initial=0)) + 1, len(problem.groups), dtype=np.int64)
    return problem.spare.astype(np.int64)


def _segments(level: Level, groups: Rows, removed: Mask) -> tuple[AnyArray, ...]:
    """Arrange rows for the kernel: order, position, segment, start, middle, end."""
    active = np.concatenate([level.movers, level.quiet])
    quiet = np.repeat([0, 1], [len(level.movers), len(level.quiet)])
    segment = np.full(len(removed), -1, dtype=np.int64)
    segment[active] = 2 * groups[active] + quiet
    count = 2 * (int(groups.max(initial=0)) + 1)
    order = active[np.lexsort((~removed[active], segment[active]))]
    position = np.full(len(removed), -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    end = np.cumsum(np.bincount(segment[active], minlength=count))
    start = np.concatenate([[0], end[:-1]])
    middle = start + np.bincount(segment[active[removed[active]]], minlength=count)
    return order, position, segment, start, middle, end
