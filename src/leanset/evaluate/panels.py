"""Figure panels of summaries."""

import math
from collections.abc import Sequence
from textwrap import fill

from leanset.evaluate.summary import SummaryRow, methods_in, parts_of
from leanset.judge import FULL, LEANSET, STRATIFIED, STRATIFIED_SHOWN, shown_name
from leanset.report import Curve, Panel, Style

_SHOWN_BELOW = -8.0  # a method that falls further below the baseline has collapsed; how far does not matter
_SHOWN_ABOVE = 5.0  # at least
_TITLE = 36  # characters of a panel's title in one line


def panels_of(rows: Sequence[SummaryRow]) -> list[Panel]:
    """Draw each network and protocol: accuracy, and beside it the difference to the baseline.

    One fraction of the baseline makes no curve, so such parts are left to the tables, unless there are no others.
    """
    parts = parts_of(rows)
    curved = [(title, part) for title, part in parts if len(_of(part, STRATIFIED)) > 1]
    panels = []
    for title, part in curved or parts:
        panels += [accuracy_panel(title, part), difference_panel(fill(f"{title}: against random", _TITLE), part)]
    return panels


def accuracy_panel(title: str, rows: Sequence[SummaryRow]) -> Panel:
    """Draw accuracy against the fraction removed, with a line for training on all examples."""
    on_all = next((100 * row.accuracy for row in rows if row.method == FULL), None)
    curves = [_curve(method, _of(rows, method), ("accuracy", "low", "high")) for method in methods_in(rows)]
    return Panel(title, "removed, %", "held-out accuracy, %", curves, on_all, shown_name(FULL))


def difference_panel(title: str, rows: Sequence[SummaryRow]) -> Panel:
    """Draw the paired difference to the baseline. Curves of methods that collapse leave the panel."""
    curves, highest = [], _SHOWN_ABOVE
    for method in methods_in(rows):
        mine = [row for row in _of(rows, method) if not math.isnan(row.against_baseline)]
        if method != STRATIFIED and mine:
            curves.append(_curve(method, mine, ("against_baseline", "against_low", "against_high")))
            highest = max(highest, *(100 * row.against_baseline + 1 for row in mine))
    limits = (_SHOWN_BELOW, highest)
    return Panel(title, "removed, %", "difference, points", curves, 0.0, STRATIFIED_SHOWN, y_limits=limits)


def _curve(method: str, rows: Sequence[SummaryRow], columns: tuple[str, str, str]) -> Curve:
    mean, low, high = ([100 * getattr(row, column) for row in rows] for column in columns)
    return Curve(shown_name(method), [100 * row.fraction for row in rows], mean, low, high, _style(method))


def _style(method: str) -> Style:
    if method == LEANSET:
        return "ours"
    return "baseline" if method == STRATIFIED else "other"


def _of(rows: Sequence[SummaryRow], method: str) -> list[SummaryRow]:
    return sorted((row for row in rows if row.method == method), key=lambda row: row.fraction)
