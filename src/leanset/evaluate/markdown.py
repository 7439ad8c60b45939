"""Markdown tables of summaries."""

import math
from collections.abc import Iterable, Mapping, Sequence

from leanset.evaluate.job import FULL
from leanset.evaluate.summary import SummaryRow


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table.

    Examples
    --------
    >>> markdown_table(["method", "accuracy"], [["el2n", "0.9"]])
    ['| method | accuracy |', '|---|---|', '| el2n | 0.9 |']
    """
    return [_line(header), "|" + "---|" * len(header), *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def fraction_table(corner: str, cells: Mapping[tuple[str, float], str], all_data: Iterable[str] = ()) -> list[str]:
    """Return a Markdown table with one row for each method and one column for each fraction.

    Parameters
    ----------
    corner : heading of the first column
    cells : text by method and fraction; a cell that is not there stays empty
    all_data : text for training on all examples, one row each, above the methods

    Examples
    --------
    >>> fraction_table("accuracy", {("el2n", 0.4): "0.9"})
    ['| accuracy | 40 % removed |', '|---|---|', '| el2n | 0.9 |']
    """
    fractions = sorted({fraction for _, fraction in cells})
    above = [["all data", text, *[""] * (len(fractions) - 1)] for text in all_data]
    rows = [
        [method, *(cells.get((method, fraction), "") for fraction in fractions)]
        for method in dict.fromkeys(method for method, _ in cells)
    ]
    return markdown_table([corner, *(f"{100 * fraction:g} % removed" for fraction in fractions)], [*above, *rows])


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
