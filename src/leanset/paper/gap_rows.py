"""Rows of predicted and observed loss gaps, and how well they agree: the arithmetic behind the paper's figure 2.

A removed set is named by method, fraction and seed. Each rule gives one gap for it. Four rules are about the head on
fixed features (`leanset.certify.predictions`); "retraining" is what happened to the whole network. These functions do
not look at data, they only compare such rows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy.stats import linregress

from leanset.judge import Interval, mean_interval, spearman

RETRAINING = "retraining"
REFERENCES = ("refit", RETRAINING)  # what happened to the head and to the network; predictions are compared with both


@dataclass(frozen=True)
class GapRow:
    """What one rule says about one removed set.

    Attributes
    ----------
    method, fraction, seed : the set: the method that chose it, the share removed, and the seed
    rule : a rule of `leanset.certify.predictions`, or "retraining"
    change : ‖Δθ‖ of the head; NaN for retraining, which changes the features too
    gap : held-out loss after the removal minus the loss before
    bound : first-order bound on the gap; NaN for retraining

    Examples
    --------
    >>> GapRow("random", 0.4, 0, "newton", change=2.0, gap=0.004, bound=0.05).rule
    'newton'
    """

    method: str
    fraction: float
    seed: int
    rule: str
    change: float
    gap: float
    bound: float


@dataclass(frozen=True)
class MeanGap:
    """The gap that one rule gives for one method at one fraction: mean and interval over the seeds.

    Examples
    --------
    >>> MeanGap("random", 0.4, "refit", mean_interval([0.003, 0.005])).gap.n
    2
    """

    method: str
    fraction: float
    rule: str
    gap: Interval


@dataclass(frozen=True)
class Agreement:
    """How well the gaps of a rule predict those of a reference, over all sets that both have.

    Attributes
    ----------
    rule : the rule that predicts
    reference : "refit" or "retraining"
    sets : number of sets compared
    spearman : rank correlation; NaN if there are fewer than two sets or all gaps are equal
    slope : least-squares slope of the reference's gap on the rule's; 1 is calibrated, above 1 the rule predicts too
        small gaps; NaN if undefined

    Examples
    --------
    >>> Agreement("newton", "refit", sets=12, spearman=0.99, slope=1.01).sets
    12
    """

    rule: str
    reference: str
    sets: int
    spearman: float
    slope: float


def retraining_row(method: str, fraction: float, seed: int, *, pruned_loss: float, full_loss: float) -> GapRow:
    """Return the row of a retrained network.

    Parameters
    ----------
    method, fraction, seed : the removed set
    pruned_loss : held-out loss of the network trained on the kept examples
    full_loss : held-out loss of the network trained on all examples with the same seed

    Examples
    --------
    >>> retraining_row("random", 0.4, 0, pruned_loss=0.75, full_loss=0.5).gap
    0.25
    """
    return GapRow(method, fraction, seed, RETRAINING, math.nan, pruned_loss - full_loss, math.nan)


def mean_gaps(rows: Iterable[GapRow]) -> list[MeanGap]:
    """Average the gaps over the seeds, for each method, fraction and rule in the order in which they first appear.

    Examples
    --------
    >>> rows = [GapRow("random", 0.4, seed, "refit", 1.0, gap, 1.0) for seed, gap in enumerate((0.25, 0.75))]
    >>> [(mean.rule, mean.gap.mean) for mean in mean_gaps(rows)]
    [('refit', 0.5)]
    """
    groups: dict[tuple[str, float, str], list[float]] = {}
    for row in _distinct(rows):
        groups.setdefault((row.method, row.fraction, row.rule), []).append(row.gap)
    return [MeanGap(*key, mean_interval(gaps)) for key, gaps in groups.items()]


def agreement(rows: Iterable[GapRow]) -> list[Agreement]:
    """Compare the gaps of each rule with those of the refit and of retraining, over all sets.

    A reference without rows is left out, and the refit is not compared with itself. Sets match if method, fraction and
    seed are equal. Gaps grow with the fraction, so the rank correlation over several fractions is high even for a rule
    that cannot tell sets of the same size apart. To find out about that, pass the rows of one fraction.

    Examples
    --------
    >>> rows = []
    >>> for seed, gap in enumerate((0.1, 0.2, 0.4)):
    ...     rows.append(GapRow("random", 0.4, seed, "paper", 1.0, gap, 1.0))
    ...     rows.append(GapRow("random", 0.4, seed, "refit", 2.0, 3 * gap, 2.0))
    >>> [(a.rule, a.reference, a.sets, round(a.spearman, 6), round(a.slope, 6)) for a in agreement(rows)]
    [('paper', 'refit', 3, 1.0, 3.0)]
    """
    gaps: dict[str, dict[tuple[str, float, int], float]] = {}
    for row in _distinct(rows):
        gaps.setdefault(row.rule, {})[row.method, row.fraction, row.seed] = row.gap
    return [
        _agreement(rule, reference, gaps)
        for reference in REFERENCES
        for rule in gaps
        if reference in gaps and rule not in (reference, RETRAINING)
    ]


def _distinct(rows: Iterable[GapRow]) -> list[GapRow]:
    held, seen = list(rows), set()
    for row in held:
        key = (row.method, row.fraction, row.seed, row.rule)
        if key in seen:
            raise ValueError(
                f"`rows` has two gaps of rule {row.rule!r} for method {row.method!r}, fraction {row.fraction}, "
                f"seed {row.seed}; each set must have one gap per rule."
            )
        seen.add(key)
    return held


def _agreement(rule: str, reference: str, gaps: dict[str, dict[tuple[str, float, int], float]]) -> Agreement:
    common = [key for key in gaps[rule] if key in gaps[reference]]
    predicted, observed = [gaps[rule][key] for key in common], [gaps[reference][key] for key in common]
    # The observed gap is regressed on the predicted one, so that noise in retraining widens the scatter around the line
    # but does not pull its slope towards 0.
    slope = float(linregress(predicted, observed).slope) if _varies(predicted) else math.nan
    ranks = spearman(predicted, observed) if _varies(predicted) and _varies(observed) else math.nan
    return Agreement(rule, reference, len(common), ranks, slope)


def _varies(values: Sequence[float]) -> bool:
    return len(set(values)) > 1
