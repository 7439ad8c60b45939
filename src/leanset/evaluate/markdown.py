"""Markdown tables of summaries."""

import math
from collections.abc import Sequence

from leanset.evaluate.summary import SummaryRow
from leanset.judge import FULL, fraction_table


def accuracy_table(rows: Sequence[SummaryRow], title: str = "Equal epochs") -> list[str]:
    """Return the accuracies as a Markdown table."""
    cells = {(row.method, row.fraction): _with_interval(row) for row in rows if row.method != FULL}
    return fraction_table(f"{title}, accuracy %", cells, [_with_interval(row) for row in rows if row.method == FULL])


def certificate_table(rows: Sequence[SummaryRow]) -> list[str]:
    """Return a Markdown table of how many times less the head changes than after a random removal."""
    cells = {(row.method, row.fraction): f"{row.below_random:.2g}" for row in rows if row.method != FULL}
    return fraction_table("change of the head, times below random", cells)


def _with_interval(row: SummaryRow) -> str:
    half = 50 * (row.high - row.low)
    return f"{100 * row.accuracy:.1f}" if math.isnan(half) else f"{100 * row.accuracy:.1f} ± {half:.1f}"
