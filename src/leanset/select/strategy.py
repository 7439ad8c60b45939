"""A strategy says how a set of a given size is found. It answers for itself what others must know of it."""

import abc
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from leanset._arrays import Vector
from leanset.certify import Finding
from leanset.influence import InfluenceMap
from leanset.problem import Outcome, Removal
from leanset.scores import Needs
from leanset.select.budget import Budget
from leanset.select.task import Task
from leanset.solve import Progress, Solver


class Strategy(abc.ABC):
    """How sets are found, with its options; nothing is computed before `begin`."""

    formulation: ClassVar[str]  # how the linear prediction is computed: "newton", or "paper" for as published
    centred: ClassVar[bool] = True  # whether influences are centred, as the mean penalty asks for
    balance: ClassVar[str] = "proportional"  # class balance, unless the user says otherwise
    searches: ClassVar[bool] = True  # whether there is anything for a solver to do
    grows_by_prediction: ClassVar[bool] = False  # whether the largest set within a bound is found without measuring

    @property
    def method(self) -> str:
        """What chooses the examples, for the certificate."""
        return "leanset"

    @property
    @abc.abstractmethod
    def solver(self) -> Solver:
        """The solver that searches."""

    @property
    def needs(self) -> Needs:
        """What must be known of the examples."""
        return ()

    def check_budget(self, budget: Budget) -> None:
        """Raise if the strategy cannot serve a budget."""
        return

    def movable(self, n: int, width: int) -> int:
        """Return how many rows a solver holds, for n examples and vectors of `width` coordinates."""
        return n

    @abc.abstractmethod
    def begin(self, task: Task) -> "Search":
        """Start on a task."""


@dataclass(frozen=True)
class Search(abc.ABC):
    """A strategy at work on one task; what several sizes have in common is computed once."""

    task: Task
    strategy: Strategy

    @cached_property
    def influence(self) -> InfluenceMap:
        """Influence vectors under the Hessian of all examples."""
        return self.task.influence(centred=self.strategy.centred)

    @cached_property
    def norms(self) -> Vector:
        """Length of each example's influence vector."""
        return self.influence.norms()

    @cached_property
    def scores(self) -> Vector | None:
        """One number an example that the choice rests on, if there is one."""
        return None

    @abc.abstractmethod
    def best(self, count: int, share: float, progress: Progress) -> Removal:
        """Look for the best `count` examples to remove with about `share` of the solver's full effort."""

    def largest(self, bound: float, progress: Progress) -> Removal:
        """Return the largest set within a bound on the prediction, for strategies that grow by it."""
        raise NotImplementedError(f"{type(self.strategy).__name__} does not grow by prediction")

    def findings(self, removal: Removal) -> list[Finding]:
        """Return what a reader of the certificate must know of this search."""
        return []

    def removal_of_nothing(self) -> Removal:
        """Return the empty answer."""
        return Removal(self.task.nothing(), Outcome.nothing_fits)
