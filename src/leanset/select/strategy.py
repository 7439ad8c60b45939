"""A strategy defines how a set of a given size is found, and states its own properties for callers."""

import abc
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from leanset._arrays import Mask, Vector
from leanset.certify import Finding
from leanset.head import Penalty
from leanset.influence import InfluenceMap
from leanset.problem import Outcome, Removal
from leanset.scores import Method, Needs
from leanset.select.budget import Budget
from leanset.select.task import Task
from leanset.solve import Progress, Solver


class Strategy(abc.ABC):
    """How sets are found. An instance contains only options; nothing is computed before `begin`."""

    formulation: ClassVar[str]  # how the linear prediction is computed: "newton", or "paper" as published
    balance: ClassVar[str] = "proportional"  # default class balance
    refits: ClassVar[bool] = False  # whether a search is made of rounds that refit the head
    weighs: ClassVar[bool] = False  # whether kept examples get weights
    grows_by_prediction: ClassVar[bool] = False  # whether the largest set within a bound is found without measuring

    @property
    def method(self) -> str:
        """How the examples are chosen, for the certificate."""
        return "leanset"

    def centred(self, penalty: Penalty) -> bool:
        """Return whether influences are centred, so that they predict the change under a penalty."""
        return penalty.centred

    @property
    def solver(self) -> Solver | None:
        """The solver that searches; None if nothing is searched for."""
        return None

    @property
    def chooser(self) -> Method | None:
        """The method of the literature that chooses; None for a search."""
        return None

    def with_solver(self, solver: Solver) -> "Strategy":
        """Return the strategy with another solver, for strategies that have one."""
        raise NotImplementedError(f"{type(self).__name__} has no solver")

    @property
    def needs(self) -> Needs:
        """What the strategy needs to know about the examples."""
        return ()

    def check_budget(self, budget: Budget) -> None:
        """Raise if the strategy does not support a budget."""
        return

    def within(self, budget: Budget) -> "Strategy":
        """Return the strategy as it searches for a budget."""
        return self

    def movable(self, n: int, width: int) -> int:
        """Return how many rows a solver may exchange, for n examples and vectors of `width` coordinates."""
        return n

    @abc.abstractmethod
    def begin(self, task: Task) -> "Search":
        """Return the search for a task."""


@dataclass(frozen=True)
class Search(abc.ABC):
    """A strategy applied to one task; whatever does not depend on the size is computed once."""

    task: Task
    strategy: Strategy

    @cached_property
    def influence(self) -> InfluenceMap:
        """Influence vectors with the Hessian of all examples."""
        return self.task.influence(centred=self.strategy.centred(self.task.head.penalty))

    @cached_property
    def norms(self) -> Vector:
        """Length of each example's influence vector."""
        return self.influence.norms()

    @cached_property
    def scores(self) -> Vector | None:
        """The score of each example that the choice is based on, or None."""
        return None

    def minimised(self, count: int) -> str:
        """Return what the choice of `count` examples minimises: "parameters", "loss" or "nothing"."""
        return "nothing"

    def quietest(self, count: int) -> Mask:
        """Return the removal of the `count` allowed examples with the shortest influence vectors."""
        free = self.task.constraints.free
        return self.task.constraints.first_allowed(free[np.argsort(self.norms[free], kind="stable")], count)

    @abc.abstractmethod
    def best(self, count: int, share: float, progress: Progress) -> Removal:
        """Search for the best `count` examples to remove, with about `share` of the solver's full effort."""

    def largest(self, bound: float, progress: Progress) -> Removal:
        """Return the largest set within a bound on the predicted change; requires `grows_by_prediction`."""
        raise NotImplementedError(f"{type(self.strategy).__name__} does not grow by prediction")

    def findings(self, removal: Removal) -> list[Finding]:
        """Return findings about this search for the certificate."""
        return []

    def removal_of_nothing(self) -> Removal:
        """Return the empty removal."""
        return Removal(self.task.nothing(), Outcome.nothing_fits)
