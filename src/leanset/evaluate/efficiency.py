"""Which accuracy takes how many steps, on all examples and on those that a method keeps.

A shorter training on all examples saves time too. So a set is worth choosing if it reaches an accuracy with fewer steps than a
training on all examples of the right length would take. Those steps are read off the trainings on all examples that were
done, between two lengths linearly in the logarithm of the steps.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from leanset.evaluate.protocol import EQUAL_EPOCHS
from leanset.evaluate.summary import Outcome, by_kind, title
from leanset.judge import FULL, LEANSET, ON_ALL, STRATIFIED, STRATIFIED_SHOWN, shown_name
from leanset.report import Curve, Panel, Style

Lengths = Mapping[int, float]  # mean accuracy of trainings on all examples by their steps, in their order

_DRAWN: tuple[tuple[str, str, Style], ...] = ((STRATIFIED, STRATIFIED_SHOWN, "other"), (LEANSET, LEANSET, "ours"))


def lengths_on_all(outcomes: Sequence[Outcome], model: str) -> Lengths:
    """Return the mean accuracy of a network's trainings on all examples, by steps and in their order."""
    found: dict[int, list[float]] = {}
    for row in outcomes:
        if row["model"] == model and row["method"] in ON_ALL:
            found.setdefault(row["steps"], []).append(row["accuracy"])
    return {steps: sum(found[steps]) / len(found[steps]) for steps in sorted(found)}


def steps_for(accuracy: float, lengths: Lengths) -> float:
    """Return the steps after which a training on all examples reaches an accuracy; NaN if no two lengths enclose it.

    Examples
    --------
    >>> lengths = {100: 0.8, 200: 0.9, 400: 0.91}
    >>> round(steps_for(0.85, lengths), 1), steps_for(0.9, lengths), steps_for(0.95, lengths)
    (141.4, 200.0, nan)
    """
    reached = np.maximum.accumulate(list(lengths.values())) if lengths else np.empty(0)
    if len(reached) < 2 or not reached[0] <= accuracy <= reached[-1]:
        return math.nan
    first = int(np.searchsorted(reached, accuracy))  # where it is reached for the first time
    steps = np.log(list(lengths))
    if first == 0:
        return float(np.exp(steps[0]))
    share = (accuracy - reached[first - 1]) / (reached[first] - reached[first - 1])
    return round(float(np.exp(steps[first - 1] + share * (steps[first] - steps[first - 1]))), 6)


def savings(outcomes: Sequence[Outcome], method: str, choosing: Mapping[str, float]) -> list[str]:
    """Say in words which steps a method's sets save, and after how many trainings choosing has paid for itself.

    Parameters
    ----------
    outcomes : rows of finished jobs
    method : who chose
    choosing : by network, what the training costs that choices are based on, in trainings of that network on all examples
    """
    outcomes, said = _counted(outcomes), []
    for (model, protocol, fraction, name), mine in by_kind(outcomes).items():
        steps, accuracy = _means(mine.values())
        whole, needed = _usual_steps(outcomes, model), steps_for(accuracy, lengths_on_all(outcomes, model))
        if name != method or not whole or math.isnan(needed):
            continue
        said.append(
            f"{title(model, protocol)}: {100 * accuracy:.1f} % takes {100 * steps / whole:.0f} % of the steps with "
            f"{100 * fraction:g} % removed by {method}, about {100 * needed / whole:.0f} % with all data"
            f"{_pays((needed - steps) / whole, choosing.get(model))}."
        )
    return said


def _pays(saved: float, choosing: float | None) -> str:
    if saved <= 0:
        return ": nothing is saved"
    return "" if choosing is None else f": choosing has paid for itself after {math.ceil(choosing / saved)} trainings"


def _counted(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return those that say their steps; early studies did not."""
    return [row for row in outcomes if "steps" in row]


def _means(rows: Iterable[Outcome]) -> tuple[float, float]:
    steps, accuracy = np.mean([(row["steps"], row["accuracy"]) for row in rows], axis=0)
    return float(steps), float(accuracy)


def _usual_steps(outcomes: Sequence[Outcome], model: str) -> int:
    usual = [row["steps"] for row in outcomes if _is(row, model, FULL)]
    return usual[0] if usual else 0


def _is(row: Outcome, model: str, method: str) -> bool:
    return (row["model"], row["protocol"], row["method"]) == (model, EQUAL_EPOCHS, method)


def efficiency_panels(outcomes: Sequence[Outcome]) -> list[Panel]:
    """Draw accuracy against steps, for networks that were trained on all examples for more than one length."""
    outcomes, panels = _counted(outcomes), []
    for model in dict.fromkeys(row["model"] for row in outcomes):
        lengths, whole = lengths_on_all(outcomes, model), _usual_steps(outcomes, model)
        if len(lengths) < 2 or not whole:
            continue
        curves = [_curve(shown_name(FULL), list(lengths.items()), whole, "baseline")]
        for method, shown, style in _DRAWN:
            chosen = by_kind(row for row in outcomes if _is(row, model, method)).values()
            curves += [_curve(shown, sorted(_means(rows.values()) for rows in chosen), whole, style)] if chosen else []
        steps = "steps, % of a training on all data"
        panels.append(Panel(f"{model}: accuracy against steps", steps, "held-out accuracy, %", curves, log_x=True))
    return panels


def _curve(name: str, points: Sequence[tuple[float, float]], whole: int, style: Style) -> Curve:
    steps, accuracy = np.transpose(points)
    return Curve(name, 100 * steps / whole, 100 * accuracy, style=style)
