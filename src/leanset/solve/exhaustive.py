import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leanset._arrays import mask_of
from leanset._errors import InputError
from leanset.problem import BestSetProblem, Outcome, Removal
from leanset.solve.driver import Progress, Solver


@dataclass(frozen=True)
class Exhaustive(Solver):
    """Evaluate every allowed set; exact, for tiny problems.

    Parameters
    ----------
    most_subsets : refuse larger problems

    Examples
    --------
    >>> import leanset
    >>> leanset.Exhaustive().most_subsets
    1000000
    """

    most_subsets: int = 1_000_000

    def search(self, problem: BestSetProblem, seed: int, progress: Progress) -> Removal:
        """Evaluate all sets and return the best."""
        visits = self._visits(problem)
        if visits > self.most_subsets:
            raise InputError(
                f"`Exhaustive()` would visit {visits:,} subsets (limit {self.most_subsets:,}); use `AdaptiveAnnealing()`."
            )
        size = len(problem.removed)
        masks = (mask_of(np.array(rows, dtype=np.int64), size) for rows in _subsets(problem))
        best = min(filter(problem.feasible, masks), key=problem.norm)
        return Removal(best, Outcome.optimal, proposals=visits)

    def _visits(self, problem: BestSetProblem) -> int:
        sizes = np.bincount(problem.exchange_cells)
        return math.prod(
            math.comb(int(n), int(m)) for n, m in zip(sizes, problem.cell_counts(problem.removed), strict=True)
        )


def _subsets(problem: BestSetProblem) -> Iterator[list[int]]:
    quotas = problem.cell_counts(problem.removed)
    members = [np.flatnonzero(problem.exchange_cells == cell).tolist() for cell in range(len(quotas))]
    choices = [itertools.combinations(rows, int(quota)) for rows, quota in zip(members, quotas, strict=True)]
    for parts in itertools.product(*choices):
        yield list(itertools.chain(*parts))
