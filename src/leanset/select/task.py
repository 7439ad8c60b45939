from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leanset._arrays import AnyArray, Mask, Rows
from leanset.head import Design, FittedHead, cross_fitted
from leanset.influence import HeadInverses, InfluenceMap, influence_map
from leanset.problem import Constraints
from leanset.rows import Column, Derived, RowTable, map_rows
from leanset.scores import Evidence, implausible_labels


@dataclass(frozen=True)
class Task:
    """The input of every strategy: the head, the constraints, and what is known about the examples.

    Attributes
    ----------
    head : the head fitted on all examples
    inverses : of its Hessian
    validation : held-out rows as the head sees them, or None
    constraints : which removals are allowed
    recorded : features and the records of a training run
    logits : (n, C) outputs of the network, or None
    seed : of all random draws
    memory : most bytes for stored vectors
    """

    head: FittedHead
    inverses: HeadInverses
    validation: Design | None
    constraints: Constraints
    recorded: Evidence
    logits: AnyArray | RowTable | None
    seed: int
    memory: int

    def __len__(self) -> int:
        return len(self.head)

    @cached_property
    def predicted(self) -> Column:
        """The network's predictions if they were captured, else those of the fitted head."""
        loss = self.head.loss
        if self.logits is None:
            return self.head.predicted
        if isinstance(self.logits, np.ndarray):
            return loss.predicted(self.logits)
        return Derived(lambda x, z: loss.predicted(z), (self.logits,))

    @cached_property
    def evidence(self) -> Evidence:
        """The recorded evidence, with the errors of the predictions added; methods of the literature know no weights."""
        design, loss = self.head.design, self.head.loss
        columns = self.predicted, design.targets
        errors = map_rows(lambda x, p, y: loss.residual(p, y), design.rows, *columns, width=design.width)
        return replace(self.recorded, errors=errors)

    @cached_property
    def suspect(self) -> Mask | None:
        """Which labels are probably wrong (`implausible_labels`); None if there are no classes.

        The network's own predictions are asked if they were captured, else heads fitted without the example.
        """
        head = self.head
        if head.loss.targets != "classes":
            return None
        predicted = self.predicted
        if self.logits is None:
            predicted = cross_fitted(head.design, head.l2, head.theta, self.inverses.precondition, self.seed)
        return implausible_labels(predicted, head.design.targets, head.rows)

    def influence(self, *, centred: bool, measured_by: FittedHead | None = None) -> InfluenceMap:
        """Return the influence vectors with the Hessian of all examples."""
        return influence_map(
            self.head, self.inverses.steering, centred=centred, prepared=self.inverses.sums, measured_by=measured_by
        )

    def nothing(self) -> Mask:
        """Return a mask that removes nothing."""
        return np.zeros(len(self), dtype=bool)


def trusted_places(task: Task) -> Rows:
    """Return the examples whose label is not suspect, pinned ones, and all of a class that would vanish."""
    assert task.suspect is not None  # the plan checks that there are classes
    trusted = ~task.suspect | task.constraints.pinned
    groups = task.constraints.groups
    left = np.bincount(groups[trusted], minlength=task.constraints.n_groups)
    return np.flatnonzero(trusted | (left[groups] == 0))
