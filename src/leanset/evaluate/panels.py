"""Figure panels of summaries."""

import math
from collections.abc import Sequence

from leanset.evaluate.summary import SummaryRow, methods_in
from leanset.judge import FULL, LEANSET, STRATIFIED, STRATIFIED_SHOWN, shown_name
from leanset.report import Curve, Panel, Style

_SHOWN_POINTS = (-8.0, 5.0)  # a method that falls further below the baseline has collapsed; how far does not matter


def accuracy_panel(title: str, rows: Sequence[SummaryRow]) -> Panel:
    """Draw accuracy against the fraction removed, with a line for training on all examples."""
    on_all = next((100 * row.accuracy for row in rows if row.method == FULL), None)
    curves = [_curve(method, _of(rows, method), ("accuracy", "low", "high")) for method in methods_in(rows)]
    return Panel(title, "removed, %", "held-out accuracy, %", curves, on_all, shown_name(FULL))


def difference_panel(title: str, rows: Sequence[SummaryRow]) -> Panel:
    """Draw the paired difference to the baseline. Curves of methods that collapse leave the panel."""
    curves = []
    for method in methods_in(rows):
        mine = [row for row in _of(rows, method) if not math.isnan(row.against_baseline)]
        if method != STRATIFIED and mine:
            curves.append(_curve(method, mine, ("against_baseline", "against_low", "against_high")))
    return Panel(title, "removed, %", "difference, points", curves, 0.0, STRATIFIED_SHOWN, y_limits=_SHOWN_POINTS)


def _curve(method: str, rows: Sequence[SummaryRow], columns: tuple[str, str, str]) -> Curve:
    mean, low, high = ([100 * getattr(row, column) for row in rows] for column in columns)
    return Curve(shown_name(method), [100 * row.fraction for row in rows], mean, low, high, _style(method))


def _style(method: str) -> Style:
    if method == LEANSET:
        return "ours"
    return "baseline" if method == STRATIFIED else "other"


def _of(rows: Sequence[SummaryRow], method: str) -> list[SummaryRow]:
    return sorted((row for row in rows if row.method == method), key=lambda row: row.fraction)
