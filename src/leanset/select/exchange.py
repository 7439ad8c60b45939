import abc
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leanset._arrays import Mask, Rows, Vector, sum_of_rows
from leanset._rng import stream
from leanset.influence import InfluenceMap
from leanset.problem import BestSetProblem, Removal
from leanset.select.strategy import Search
from leanset.solve import Progress, Solver, solve


@dataclass(frozen=True)
class ExchangeSearch(Search, abc.ABC):
    """A search that improves a set by exchanging rows."""

    @property
    def solver(self) -> Solver:
        """The strategy's solver."""
        assert self.strategy.solver is not None  # strategies that exchange rows have one
        return self.strategy.solver

    @cached_property
    def movable(self) -> Rows:
        """Rows that the solver may exchange; the others stay as in the random start.

        The longest vectors dominate the sum, so they come first; a quarter of these rows is drawn at random, as exchange
        partners.
        """
        free, task = self.task.constraints.free, self.task
        width = self.influence.vectors(free[:1]).shape[1]
        places = min(len(free), self.strategy.movable(len(task), width), task.memory // (4 * width))
        if places == len(free):
            return free
        ranked = free[np.argsort(-self.norms[free], kind="stable")]
        heavy = ranked[: 3 * places // 4]
        rng = stream(task.seed, "quiet rows")
        return np.sort(np.concatenate([heavy, rng.choice(ranked[len(heavy) :], places - len(heavy), replace=False)]))

    def problem(
        self, influence: InfluenceMap, rows: Rows, removed: Mask, total: Vector, cells: Rows | None = None
    ) -> BestSetProblem:
        """Return the problem of exchanging some rows while the others stay fixed.

        Parameters
        ----------
        influence : influence vectors of single rows
        rows : rows that may be exchanged
        removed : (n,) the set to start from
        total : (p,) the change of the head that this set causes
        cells : (n,) rows are exchanged only within a cell; if None, within a group if removals are proportional
        """
        constraints = self.task.constraints
        vectors, inside = influence.vectors(rows), removed[rows]
        gone = np.bincount(constraints.groups[removed], minlength=constraints.n_groups)
        return BestSetProblem(
            vectors=vectors,
            groups=constraints.groups[rows],
            removed=inside,
            offset=total - sum_of_rows(vectors, inside),
            cells=self._cells(cells)[rows],
            spare=constraints.capacity - gone,
        )

    def exchanged(
        self,
        removed: Mask,
        solver: Solver,
        seed: int,
        progress: Progress,
        cells: Rows | None = None,
        influence: InfluenceMap | None = None,
    ) -> Removal:
        """Improve a set by exchanging movable rows, with the Hessian of all examples."""
        guide = influence or self.influence
        problem = self.problem(guide, self.movable, removed, guide.total(removed.astype(np.float64)), cells)
        return improved(problem, self.movable, removed, solver, seed, progress)

    def start(self, count: int) -> Mask:
        """Return the random set from which a search of this size starts."""
        return self.task.constraints.random_removal(count, stream(self.task.seed, "start", count))

    def _cells(self, cells: Rows | None) -> Rows:
        constraints = self.task.constraints
        if cells is not None:
            return cells
        return constraints.groups if constraints.proportional else np.zeros_like(constraints.groups)


def improved(
    problem: BestSetProblem, rows: Rows, removed: Mask, solver: Solver, seed: int, progress: Progress
) -> Removal:
    """Solve an exchange problem and return the result as a removal over all examples."""
    found = solve(problem, solver, seed=seed, progress=progress)
    after = removed.copy()
    after[rows] = found.removed
    return replace(found, removed=after)
