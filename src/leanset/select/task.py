from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leanset._arrays import AnyArray, Mask, Matrix
from leanset.head import Design, FittedHead
from leanset.influence import HeadInverses, InfluenceMap, influence_map
from leanset.problem import Constraints
from leanset.scores import Evidence


@dataclass(frozen=True)
class Task:
    """What every strategy is given: the head of all examples, what may go, and what is known of the examples.

    Attributes
    ----------
    head : the head of all examples, at its minimum
    inverses : of its Hessian
    validation : held-out rows as the head sees them, or None
    constraints : which removals are allowed
    recorded : features, and what was recorded of a training
    logits : (n, C) the network's own outputs, or None
    seed : of every draw
    memory : bytes that stored vectors may take
    """

    head: FittedHead
    inverses: HeadInverses
    validation: Design | None
    constraints: Constraints
    recorded: Evidence
    logits: AnyArray | None
    seed: int
    memory: int

    def __len__(self) -> int:
        return len(self.head)

    @cached_property
    def predicted(self) -> Matrix:
        """The network's own predictions where they were captured, else those of the fitted head."""
        return self.head.predicted if self.logits is None else self.head.loss.predicted(self.logits)

    @cached_property
    def evidence(self) -> Evidence:
        """What was recorded, completed by the errors of the predictions."""
        return replace(self.recorded, errors=self.head.design.residual(self.predicted))

    def influence(self, *, centred: bool) -> InfluenceMap:
        """Return the influence vectors under the Hessian of all examples."""
        return influence_map(self.head, self.inverses.steering, centred=centred, prepared=self.inverses.sums)

    def nothing(self) -> Mask:
        """Return a mask that removes nothing."""
        return np.zeros(len(self), dtype=bool)
