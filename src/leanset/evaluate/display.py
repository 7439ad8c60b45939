"""Summaries as figures and as Markdown tables."""

import math
from collections.abc import Sequence

from leanset.evaluate.bench import LEANSET, STRATIFIED
from leanset.evaluate.job import FULL
from leanset.evaluate.results import SummaryRow
from leanset.report import Curve, Panel
from leanset.report.canvas import Style

STRATIFIED_SHOWN = "class-stratified random"
_COLLAPSED = (-8.0, 5.0)  # points; what falls further below the baseline need not be seen in detail


def style_of(method: str) -> Style:
    """Return how a method is drawn."""
    if method == LEANSET:
        return "ours"
    return "baseline" if method == STRATIFIED else "other"


def accuracy_panel(title: str, rows: Sequence[SummaryRow]) -> Panel:
    """Draw accuracy against the fraction removed, with training on everything as reference."""
    whole = next((100 * row.accuracy for row in rows if row.method == FULL), None)
    curves = [_curve(method, _of(rows, method), ("accuracy", "low", "high")) for method in _methods(rows)]
    return Panel(title, "removed, %", "held-out accuracy, %", curves, whole, "all data")


def difference_panel(title: str, rows: Sequence[SummaryRow]) -> Panel:
    """Draw the paired difference to the baseline; methods that collapse leave the frame."""
    curves = []
    for method in _methods(rows):
        mine = [row for row in _of(rows, method) if not math.isnan(row.against_baseline)]
        if method != STRATIFIED and mine:
            curves.append(_curve(method, mine, ("against_baseline", "against_low", "against_high")))
    return Panel(title, "removed, %", "difference, points", curves, 0.0, "class-stratified random", y_limits=_COLLAPSED)


def _curve(method: str, rows: Sequence[SummaryRow], columns: tuple[str, str, str]) -> Curve:
    mean, low, high = ([100 * getattr(row, column) for row in rows] for column in columns)
    return Curve(method, [100 * row.fraction for row in rows], mean, low, high, style_of(method))


def accuracy_table(rows: Sequence[SummaryRow], title: str = "Equal epochs") -> list[str]:
    """Write accuracies as a Markdown table, methods down and fractions across."""
    fractions = sorted({row.fraction for row in rows if row.method != FULL})
    found = {(row.method, row.fraction): row for row in rows}
    lines = [f"| {title}, accuracy % | " + " | ".join(f"{100 * f:g} % removed" for f in fractions) + " |"]
    lines.append("|---|" + "---|" * len(fractions))
    for row in rows:
        if row.method == FULL:
            lines.append(f"| all data | {_with_interval(row)} |" + " |" * (len(fractions) - 1))
    for method in _methods(rows):
        cells = [_with_interval(found[method, f]) if (method, f) in found else "" for f in fractions]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return lines


def certificate_table(rows: Sequence[SummaryRow]) -> list[str]:
    """Write how many times the head moves less than after a random removal."""
    fractions = sorted({row.fraction for row in rows if row.method != FULL})
    found = {(row.method, row.fraction): row for row in rows}
    lines = ["| change of the head, times below random | " + " | ".join(f"{100 * f:g} %" for f in fractions) + " |"]
    lines.append("|---|" + "---|" * len(fractions))
    for method in _methods(rows):
        cells = [f"{found[method, f].below_random:.2g}" if (method, f) in found else "" for f in fractions]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return lines


def _with_interval(row: SummaryRow) -> str:
    half = 50 * (row.high - row.low)
    return f"{100 * row.accuracy:.1f}" if math.isnan(half) else f"{100 * row.accuracy:.1f} ± {half:.1f}"


def _methods(rows: Sequence[SummaryRow]) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows if row.method != FULL))


def _of(rows: Sequence[SummaryRow], method: str) -> list[SummaryRow]:
    return sorted((row for row in rows if row.method == method), key=lambda row: row.fraction)
