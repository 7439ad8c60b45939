import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._errors import InputError
from leanset._rng import stream
from leanset.problem import BestSetProblem, LargestSetProblem, Removal
from leanset.solve.annealing import Level, anneal
from leanset.solve.driver import Progress, Solver, check_positive
from leanset.solve.largest_set import largest_set


@dataclass(frozen=True)
class SimulatedAnnealing(Solver):
    """The paper's solver: uniform exchanges with a fixed geometric temperature schedule.

    Parameters
    ----------
    proposals : exchanges to try
    hot, cold : first and last temperature, in units of the starting set's squared norm
    levels : number of temperatures
    seconds : time limit instead of a number of proposals (the result then depends on the speed of the machine)

    Examples
    --------
    >>> import leanset
    >>> leanset.SimulatedAnnealing(proposals=1_000).hot
    0.001
    """

    proposals: int = 10_000_000
    hot: float = 1e-3
    cold: float = 1e-6
    levels: int = 50
    seconds: float | None = None
    finds_largest: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("SimulatedAnnealing", proposals=self.proposals, seconds=self.seconds, levels=self.levels)
        if not 0 < self.cold <= self.hot:
            raise InputError(f"`SimulatedAnnealing(hot={self.hot}, cold={self.cold})` needs 0 < cold <= hot.")

    def expected_seconds(self, rows: int, width: int, seconds_per_move: float) -> float:
        """Return the time limit, or the time for the proposals."""
        return self.proposals * seconds_per_move if self.seconds is None else self.seconds

    def with_effort(self, share: float) -> "SimulatedAnnealing":
        """Return a solver with `share` times the proposals and seconds."""
        seconds = None if self.seconds is None else share * self.seconds
        return dataclasses.replace(self, proposals=max(1, int(share * self.proposals)), seconds=seconds)

    @property
    def depends_on_speed(self) -> bool:
        """Whether a time limit ends the search."""
        return self.seconds is not None

    def search(self, problem: BestSetProblem, seed: int, progress: Progress) -> Removal:
        """Anneal from the starting set."""
        everyone = np.arange(len(problem.groups))
        energy = problem.norm(problem.removed) ** 2 or 1.0
        per_level = -(-self.proposals // self.levels)
        levels = [
            Level(float(energy * t), everyone, everyone[:0], 0.0, per_level)
            for t in np.geomspace(self.hot, self.cold, self.levels)
        ]

        def report(count: int) -> None:
            progress(min(1.0, count / self.proposals))

        rng = stream(seed, "simulated annealing")
        return anneal(problem, levels, rng, seconds=self.seconds, report=report, stopped=lambda: False)

    def largest(self, problem: LargestSetProblem, seed: int, progress: Progress) -> Removal:
        """Anneal on the number of removed rows."""
        return largest_set(
            problem, proposals=self.proposals, levels=self.levels, seconds=self.seconds, seed=seed, progress=progress
        )
