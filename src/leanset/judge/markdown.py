"""Markdown tables."""

from collections.abc import Iterable, Mapping, Sequence

from leanset.judge.methods import FULL, shown_name


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
    above = [[shown_name(FULL), text, *[""] * (len(fractions) - 1)] for text in all_data]
    rows = [
        [method, *(cells.get((method, fraction), "") for fraction in fractions)]
        for method in dict.fromkeys(method for method, _ in cells)
    ]
    return markdown_table([corner, *(f"{100 * fraction:g} % removed" for fraction in fractions)], [*above, *rows])
