"""Annealing whose schedule and proposals are derived from the data.

Its design follows from three measurements (CIFAR-10 head, 50,000 rows, 585 coordinates, 40 % removed; a random set has
norm 1.0). Influence norms are heavy-tailed: most rows hardly change the head, and a tenth of them dominates the sum. In
thermal equilibrium the squared norm is about p·T/2, so the first temperature follows from the starting norm, and at
temperature T only rows with ‖v‖² of the order of T or more are worth proposing ("movers"). Exchanging a mover with a
quiet row acts like a single flip; exchanging two movers allows moves that one flip cannot make. A mix of both worked
best.
"""

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Vector
from leanset._errors import InputError
from leanset._rng import stream
from leanset._threads import available_threads
from leanset.problem import BestSetProblem, Removal
from leanset.solve.annealing import Level, anneal
from leanset.solve.driver import Progress, Solver, check_positive

_LEVELS = 32
_COLD = 5e-5  # end of the slow cooling, as a share of the temperature at which a random set would be in equilibrium
_QUENCH = 1e-6  # further cooling factor of the last quarter of the levels, so that the search settles
_MOVER_SHARE = 0.5  # rows with ‖v‖² above this share of the temperature are movers
_QUIET_SHARE = 0.6  # how often a mover's partner is a quiet row
_MOST_WORK = 1.6e10  # coordinates that the exchanges of a chain may touch; at 3,850 coordinates, a quarter did as well
_SMALL = 1000  # up to this many rows, the effort suffices to start hot and to let every row move


@dataclass(frozen=True)
class AdaptiveAnnealing(Solver):
    """leanset's default solver: annealing with a schedule and proposals derived from the data.

    Parameters
    ----------
    proposals : exchanges that each chain tries; None scales with the number of rows, up to 25.6 million, fewer for long
        vectors
    seconds : time limit instead of a number of proposals (the result then depends on the speed of the machine)
    chains : independent runs, in parallel if there are enough cores; the best one is returned
    effort : multiplies proposals and seconds

    Examples
    --------
    >>> import leanset
    >>> leanset.AdaptiveAnnealing(seconds=10).chains
    2
    """

    proposals: int | None = None
    seconds: float | None = None
    chains: int = 2
    effort: float = 1.0

    def __post_init__(self) -> None:
        check_positive("AdaptiveAnnealing", proposals=self.proposals, seconds=self.seconds, effort=self.effort)
        if self.chains < 1:
            raise InputError(f"`AdaptiveAnnealing(chains={self.chains})` must be at least 1.")

    def expected_seconds(self, rows: int, width: int, seconds_per_move: float) -> float:
        """Return the time limit, or the time for the proposals of all chains on the available cores."""
        if self.seconds is not None:
            return self.effort * self.seconds
        waves = -(-self.chains // available_threads())
        return waves * self._proposals(rows, width) * seconds_per_move

    def with_effort(self, share: float) -> "AdaptiveAnnealing":
        """Return a solver with `share` times the effort of this one."""
        return dataclasses.replace(self, effort=share * self.effort)

    @property
    def depends_on_speed(self) -> bool:
        """Whether a time limit ends the search."""
        return self.seconds is not None

    def search(self, problem: BestSetProblem, seed: int, progress: Progress) -> Removal:
        """Run all chains and return the best result."""
        planned = self._proposals(*problem.vectors.shape)
        seconds = None if self.seconds is None else self.effort * self.seconds
        lengths = np.einsum("ij,ij->i", problem.vectors, problem.vectors, dtype=np.float64)
        stop, done = threading.Event(), np.zeros(self.chains)

        def run(chain: int) -> Removal:
            rng = stream(seed, "adaptive annealing", chain)

            def report(count: int) -> None:
                done[chain] = count
                progress(min(1.0, done.sum() / (planned * self.chains)))

            levels = _schedule(problem, lengths, planned)
            return anneal(problem, levels, rng, seconds=seconds, report=report, stopped=stop.is_set)

        with ThreadPoolExecutor(min(self.chains, available_threads())) as pool:
            try:
                ends = list(pool.map(run, range(self.chains)))
            finally:
                stop.set()  # on Ctrl-C, the chains stop within one slice
        best = min(ends, key=lambda end: end.norm)
        return dataclasses.replace(best, proposals=sum(end.proposals for end in ends))

    def _proposals(self, rows: int, width: int) -> int:
        usual = min(25_600_000, 3_200 * rows, int(_MOST_WORK) // width)
        return max(1, int(self.effort * (self.proposals or usual)))


def _schedule(problem: BestSetProblem, lengths: Vector, proposals: int) -> list[Level]:
    k, p = problem.vectors.shape
    rate = problem.removed.mean()
    random_energy = float(rate * (1 - rate) * lengths.sum())
    cold = max(_COLD * random_energy / p, np.finfo(np.float32).tiny / _QUENCH)
    start_energy = problem.norm(problem.removed) ** 2
    hot = max((max(start_energy, 4 * random_energy) if k <= _SMALL else start_energy) / p, 10 * cold)
    slow, fast = np.geomspace(hot, cold, 3 * _LEVELS // 4), np.geomspace(cold, _QUENCH * cold, _LEVELS // 4 + 1)[1:]
    # Cold levels have more movers, so the effort rises; the quench needs less.
    efforts = np.concatenate([np.linspace(0.6, 1.4, len(slow)), np.full(len(fast), 0.6)])
    shares = efforts / efforts.sum()
    levels = []
    for temperature, share in zip([*slow, *fast], shares, strict=True):
        moves = lengths >= _MOVER_SHARE * temperature
        if k <= _SMALL or moves.sum() < 2:
            moves = np.ones(k, dtype=bool)
        quiet_share = 0.0 if moves.all() else _QUIET_SHARE
        size = max(1, int(share * proposals))
        levels.append(Level(float(temperature), np.flatnonzero(moves), np.flatnonzero(~moves), quiet_share, size))
    return levels
