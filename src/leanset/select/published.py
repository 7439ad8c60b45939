"""The paper's strategy, exactly as published: ‖WᵀS‖ with uncentred influences and the full Hessian, annealed."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from leanset._errors import InputError
from leanset.certify import Finding
from leanset.head import Penalty
from leanset.problem import LargestSetProblem, Removal
from leanset.select.budget import Budget
from leanset.select.exchange import ExchangeSearch
from leanset.select.strategy import Search, Strategy
from leanset.select.task import Task
from leanset.solve import Progress, SimulatedAnnealing, Solver


@dataclass(frozen=True)
class Published(Strategy):
    """Problems (a) and (b) of the paper."""

    solver: Solver = SimulatedAnnealing()  # noqa: RUF009  # frozen
    formulation: ClassVar[str] = "paper"
    balance: ClassVar[str] = "none"
    grows_by_prediction: ClassVar[bool] = True

    def centred(self, penalty: Penalty) -> bool:
        """Return False, as published, whichever penalty the change is measured under."""
        return False

    def check_budget(self, budget: Budget) -> None:
        """Raise for budgets that are not in the paper, and for solvers that cannot solve problem (a)."""
        if budget.needs_validation:
            raise InputError(
                f"`{budget.name}` is not part of the paper's formulation; use `epsilon`, or formulation='newton'."
            )
        if not budget.is_size and not self.solver.finds_largest:
            raise InputError(
                f"`solver={self.solver!r}` cannot solve the paper's problem (a); use `SimulatedAnnealing(...)`, or None."
            )

    def with_solver(self, solver: Solver) -> Strategy:
        """Return the strategy with another solver."""
        return replace(self, solver=solver)

    def begin(self, task: Task) -> Search:
        """Return the search for a task."""
        return PublishedSearch(task, self)


@dataclass(frozen=True)
class PublishedSearch(ExchangeSearch):
    """The strategy applied to one task."""

    def minimised(self, count: int) -> str:
        """Return "parameters": ‖WᵀS‖ predicts ‖Δθ‖."""
        return "parameters"

    def best(self, count: int, share: float, progress: Progress) -> Removal:
        """Solve problem (b) by annealing."""
        return self.exchanged(self.start(count), self.solver.with_effort(share), self.task.seed, progress)

    def largest(self, bound: float, progress: Progress) -> Removal:
        """Solve problem (a): the largest set whose predicted change is within the bound; not measured, as in the paper."""
        constraints, rows = self.task.constraints, self.movable
        problem = LargestSetProblem(self.influence.vectors(rows), constraints.groups[rows], bound, constraints.capacity)
        found = self.solver.largest(problem, self.task.seed, progress)
        removed = np.zeros(len(self.task), dtype=bool)
        removed[rows[found.removed]] = True
        return Removal(removed, found.outcome, proposals=found.proposals)

    def findings(self, removal: Removal) -> list[Finding]:
        """State the predicted and the measured change."""
        effect = removal.measured
        return [
            Finding(
                "LS106",
                f"The paper's formulation predicts {effect.influence_change:.6g} and does not check it; "
                f"a refit measures {effect.refit_change:.6g}.",
            )
        ]
