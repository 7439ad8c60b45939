"""What a summary says, in words."""

import math
from collections.abc import Iterable, Mapping, Sequence

from leanset.evaluate.protocol import Protocol
from leanset.evaluate.summary import Outcome, SummaryRow, by_kind, compared, title
from leanset.judge import (
    BALANCED,
    FULL,
    ON_ALL,
    POINTS,
    SHORTER,
    Comparison,
    Interval,
    in_seeds,
    shown_name,
    verdict,
    written,
)
from leanset.training import SAME_LOSS

_ALIKE = 0.05  # a share of steps that is not worth a word
_OFTEN = 10  # trainings on one set, for which its choice is shared out


def verdicts(rows: Iterable[SummaryRow], baseline: str, shown: str) -> list[str]:
    """Say in words how each method compares with the baseline; `shown` is the baseline's name for readers."""
    said = []
    for row in rows:
        if row.method in (baseline, FULL) or math.isnan(row.against_baseline):
            continue
        found = Comparison(row.difference, row.p_value)
        words = verdict(shown_name(row.method), shown, row.fraction, found)
        said.append(f"{title(row.model, row.protocol)}: {words}")
    return said


def costs(rows: Iterable[SummaryRow], method: str, choosing: Mapping[tuple[str, str], float]) -> list[str]:
    """Say in words what a method costs beside training on all examples, and what it saves.

    Parameters
    ----------
    rows : the summary
    method : who chose
    choosing : by network and protocol, what the training costs that choices are based on, as a share of one on all examples
    """
    said = []
    for row in rows:
        if row.method != method or not row.full_seeds:
            continue
        difference = Interval(row.against_full, row.against_full_low, row.against_full_high, row.full_seeds)
        mean, low, high = written(difference, POINTS)
        interval = "no interval" if math.isnan(row.against_full_low) else f"95 % interval {low} to {high}"
        steps = "" if math.isnan(row.steps_share) else f", with {_work(row, choosing.get((row.model, row.protocol)))}"
        said.append(
            f"{title(row.model, row.protocol)}: {100 * row.fraction:g} % removed by {method}: {mean} points beside all data, "
            f"{interval} ({in_seeds(row.full_seeds)}){steps}."
        )
    return said


def higher_losses(rows: Iterable[SummaryRow], method: str, shown: str) -> list[str]:
    """Say so where networks are as often right as those of the baseline, and yet their loss is higher.

    Parameters
    ----------
    rows : the summary
    method : who chose
    shown : the baseline's name for readers

    What is removed shifts what a network takes for usual, so that its probabilities may be off while its answers are better.
    """
    said = []
    for row in rows:
        higher = row.loss_against_baseline
        if row.method != method or math.isnan(higher) or higher <= SAME_LOSS or row.against_baseline < 0:
            continue
        said.append(
            f"{title(row.model, row.protocol)}: at {100 * row.fraction:g} % removed by {method} the loss is {_signed(higher)} "
            f"beside {shown} ({in_seeds(row.common_loss_seeds)}), though no fewer answers are right: probabilities are off."
            f"{_once_scaled(row.scaled_against_baseline, higher)}"
        )
    return said


def _once_scaled(scaled: float, higher: float) -> str:
    """Say what is left of a higher loss once one number divides all logits, if that is known."""
    if math.isnan(scaled):
        return ""
    number = " One number that divides all logits, fitted on held-out images,"
    if scaled <= SAME_LOSS:
        return f"{number} mends that: {_signed(scaled)} once that is done."
    return f"{number} {'leaves' if scaled < higher else 'does not mend that:'} {_signed(scaled)}."


def _signed(difference: float) -> str:
    return f"{difference:+.3f}".replace("-", "−")


def _work(row: SummaryRow, chooser: float | None) -> str:
    """Say what a training takes of one on all examples, and what that is once choosing is counted, too."""
    said = f"{100 * row.steps_share:.0f} % of the steps"
    if chooser is None or math.isnan(row.choosing_share):
        return said
    whole = chooser + row.choosing_share
    once, often = (100 * (row.steps_share + whole / trainings) for trainings in (1, _OFTEN))
    return f"{said}; choosing included, {once:.0f} % for one training and {often:.0f} % each for {_OFTEN}"


def beside_shorter(outcomes: Sequence[Outcome], method: str) -> list[str]:
    """Say in words whether a method's sets are worth more than a shorter training on all examples, if that was tried."""
    known, said = by_kind(outcomes), []
    for (model, protocol, fraction, name), ours in known.items():
        theirs = known.get((model, Protocol(protocol).shorter, fraction, SHORTER), {})
        if name == method and ours.keys() & theirs.keys():
            found = compared(ours, theirs)
            shorter = f"a shorter training on all data{_other_steps(ours, theirs)}"
            words = verdict(method, shorter, fraction, found)
            said.append(f"{title(model, protocol)}: {words}")
    return said


def _other_steps(ours: Mapping[int, Outcome], theirs: Mapping[int, Outcome]) -> str:
    """Say so if the others took clearly more or fewer steps: a training has whole passes."""
    ratios = [theirs[seed].get("steps", 1) / ours[seed].get("steps", 1) for seed in ours.keys() & theirs.keys()]
    mean = sum(ratios) / len(ratios)
    return "" if abs(mean - 1) < _ALIKE else f" ({mean:.2g} times the steps)"


def beside_best(outcomes: Sequence[Outcome], method: str) -> list[str]:
    """Say in words how a method compares with the best of the others that chose, by the seeds that both have.

    Only those with the most such seeds are looked at. Which is the best is seen afterwards, so its luck counts for it.

    Examples
    --------
    >>> row = {"model": "lenet", "protocol": "equal-epochs", "fraction": 0.4, "seed": 0}
    >>> made = [row | {"method": m, "accuracy": a} for m, a in (("leanset", 0.62), ("ccs", 0.6), ("el2n", 0.5))]
    >>> print(*beside_best(made, "leanset"))
    lenet, equal epochs: leanset against ccs, the best of the others, at 40 % removed: +2.0 points, one seed: no interval.
    """
    known, said = by_kind(outcomes), []
    for (model, protocol, fraction, name), ours in known.items():
        if name != method:
            continue
        others = {
            other: compared(ours, theirs)
            for (*place, other), theirs in known.items()
            if place == [model, protocol, fraction] and other not in (method, BALANCED, *ON_ALL)
        }
        most = max((found.difference.n for found in others.values()), default=0)
        rivals = {other: found for other, found in others.items() if found.difference.n == most}
        if most:
            best = min(rivals, key=lambda other: rivals[other].difference.mean)
            words = verdict(method, f"{best}, the best of the others,", fraction, rivals[best])
            said.append(f"{title(model, protocol)}: {words}")
    return said
