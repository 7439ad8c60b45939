"""Which rows train the heads of a comparison, and which judge them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leanset._arrays import Rows
from leanset.data import Examples, chosen_rows
from leanset.head import HeadStatistics
from leanset.judge import drawn_aside

FeatureSource = Examples | HeadStatistics


@dataclass(frozen=True)
class Splits:
    """The data of every seed: with the source's own validation rows, or with a share that each seed draws anew.

    Attributes
    ----------
    source : features or the statistics of a head
    share : share of each group to hold out; used only if the source has no validation rows
    """

    source: FeatureSource
    share: float

    @property
    def redrawn(self) -> bool:
        """Whether each seed draws its own validation rows."""
        return self.source.validation is None

    def nth(self, seed: int) -> int:
        """Return the number of the split that a seed uses."""
        return seed if self.redrawn else 0

    def rows(self, seed: int) -> Rows:
        """Return the numbers of a seed's validation rows; a number means the same row under every seed."""
        if self.source.validation is not None:
            held_out = self.source.validation
            return np.arange(len(held_out) if isinstance(held_out, Examples) else len(held_out[1]))
        return np.flatnonzero(drawn_aside(self._groups, self.share, seed))

    def data(self, seed: int) -> FeatureSource:
        """Return a seed's training rows with its validation rows."""
        if not self.redrawn:
            return self.source
        aside = self.rows(seed)
        stay = np.setdiff1d(np.arange(len(self.source)), aside)
        if isinstance(self.source, Examples):
            return replace(self.source.take(stay), validation=self.source.take(aside))
        return _statistics(self.source, stay, aside)

    @cached_property
    def _groups(self) -> Rows:
        examples = self.source if isinstance(self.source, Examples) else self.source.examples()
        return examples.targets.groups


def _statistics(source: HeadStatistics, stay: Rows, aside: Rows) -> HeadStatistics:
    return replace(
        source,
        features=chosen_rows(source.features, stay),
        labels=source.labels[stay],
        logits=None if source.logits is None else chosen_rows(source.logits, stay),
        rows=None if source.rows is None else source.rows[stay],
        gradient_norm=None if source.gradient_norm is None else source.gradient_norm[stay],
        dynamics=tuple(record.take(stay) for record in source.dynamics),
        validation=(chosen_rows(source.features, aside), source.labels[aside]),
    )
