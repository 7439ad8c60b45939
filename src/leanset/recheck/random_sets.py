"""The random removals of a certificate, drawn again from its seed and measured again."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from leanset._arrays import Mask, Matrix, Rows
from leanset._rng import stream
from leanset.recheck.plain import Fit, PlainProblem
from leanset.recheck.saved import SavedRun

_FLOOR_OF_BUDGETS = ("min_agreement", "max_accuracy_drop", "max_loss_gap")
_FLOOR = 10  # examples of each class that stay under these budgets


@dataclass(frozen=True)
class RandomRule:
    """How a run draws its random removals: a shuffled list of the rows that may go, up to a limit for each group.

    Attributes
    ----------
    seed, draws : seed of the run and number of random removals
    count : rows to remove
    free : rows that may go
    groups : (n,) group of each row
    limits : most rows that each group may lose
    """

    seed: int
    draws: int
    count: int
    free: Rows
    groups: Rows
    limits: Rows

    @classmethod
    def of_run(cls, run: SavedRun) -> "RandomRule":
        """Read the rule from the settings of a run; with proportional classes random sets lose what the answer loses."""
        targets, balance = run.examples.targets, run.settings["class_balance"]
        groups, sizes = targets.groups, targets.group_sizes
        free = np.setdiff1d(np.arange(len(run.examples)), np.concatenate([run.pinned, targets.protected]))
        if balance == "proportional":
            limits = np.bincount(groups[run.removed], minlength=len(sizes))
        else:
            least = balance if isinstance(balance, int) else _FLOOR if run.budget in _FLOOR_OF_BUDGETS else 1
            limits = np.clip(sizes - least, 0, np.bincount(groups[free], minlength=len(sizes)))
        return cls(run.certificate["seed"], run.settings["random_draws"], len(run.removed), free, groups, limits)

    def gone(self, draw: int) -> Mask:
        """Return which rows go in one of the draws."""
        room, gone = self.limits.copy(), np.zeros(len(self.groups), dtype=bool)
        left = self.count
        for row in stream(self.seed, "random removal", self.count, draw).permutation(self.free):
            if left and room[self.groups[row]]:
                room[self.groups[row]] -= 1
                gone[row] = True
                left -= 1
        return gone


def random_heads(
    problem: PlainProblem, rule: RandomRule, l2_on: Callable[[float], float], start: Matrix
) -> list[tuple[PlainProblem, Fit]]:
    """Fit the head of each draw; one factor on all kept rows only matters through the l2 of what they count together."""
    kept = [problem.part(~rule.gone(draw)) for draw in range(rule.draws)]
    parts = [replace(part, l2=l2_on(part.total)) for part in kept]
    return [(part, part.fit(start)) for part in parts]
