from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanset.report.page.facts import RunFacts

_DRAWN = 24  # bars of one chart; of more classes those that keep least and most are drawn


@dataclass(frozen=True)
class Retention:
    """How much is kept of one class."""

    name: str
    before: int
    after: int

    @property
    def share(self) -> float:
        """The kept share."""
        return self.after / self.before if self.before else 0.0


def retention(facts: RunFacts) -> list[Retention]:
    """Return how much is kept of each class, label or tenth."""
    groups = facts.groups
    before, after = groups.sizes(np.ones(len(facts), dtype=bool)).tolist(), groups.sizes(facts.kept).tolist()
    return [Retention(*each) for each in zip(groups.names, before, after, strict=True)]


def drawn(classes: Sequence[Retention]) -> list[Retention]:
    """Return the classes to draw: all, or those that keep least and most.

    Examples
    --------
    >>> many = [Retention(str(k), 100, k) for k in range(100)]
    >>> [each.name for each in drawn(many)][:2], [each.name for each in drawn(many)][-1], len(drawn(many))
    (['0', '1'], '99', 24)
    """
    if len(classes) <= _DRAWN:
        return list(classes)
    ranked = sorted(classes, key=lambda each: each.share)
    return [*ranked[: _DRAWN // 2], *ranked[-_DRAWN // 2 :]]
