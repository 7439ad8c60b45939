"""The tables of a comparison, for the terminal and for its folder."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leanset._folder import Folder
from leanset.judge import (
    FULL,
    LEANSET,
    LOSS,
    POINTS,
    STRATIFIED,
    STRATIFIED_SHOWN,
    Measure,
    about_leanset,
    markdown_table,
    plus_minus,
    shown_name,
    write_rows,
    written,
)
from leanset.report import Curve, Panel, StudyPart, Style, share, write_study_page
from leanset.trials.summary import CompareResult, CompareRow, Figure, change_shown

_HEADER = ("", "accuracy", "loss", "against random", "unchanged", "moves", "time")
_DIFFERENCES = {  # heading and measure of each figure
    "accuracy": ("accuracy, points", POINTS),
    "loss": ("loss", LOSS),
    "unchanged": ("unchanged, points", POINTS),
    "change": ("‖Δθ‖/‖θ̂‖", Measure("")),
    "seconds": ("seconds", Measure("")),
}


@dataclass(frozen=True)
class TextTable:
    """A table in words; columns without any content are left out."""

    title: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, title: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> "TextTable":
        """Make a table, without the columns that are empty in every line."""
        used = [k for k in range(len(header)) if any(line[k] for line in lines)]
        return cls(title, tuple(header[k] for k in used), tuple(tuple(line[k] for k in used) for line in lines))

    def markdown(self) -> list[str]:
        """Return the lines of the table in Markdown, without the title."""
        return markdown_table(self.header, self.lines)


def figure_tables(rows: Sequence[CompareRow]) -> list[TextTable]:
    """Return a table for each fraction, with one line for each method below the head of all data."""
    tables = []
    for fraction, part in _by_fraction(rows):
        kept = min(row.kept for row in part)
        title = f"{_removed(fraction)}, {kept:,} of {part[0].kept:,} rows kept"
        tables.append(TextTable.of(title, _HEADER, [_figures(row) for row in part]))
    return tables


def difference_tables(rows: Sequence[CompareRow]) -> list[TextTable]:
    """Return a table for each fraction with the differences of every figure to the baseline, and their intervals."""
    header = ("", *(heading for heading, _ in _DIFFERENCES.values()))
    return [
        TextTable.of(
            f"{_removed(fraction)}, against {STRATIFIED} (95 %)",
            header,
            [_differences(row) for row in part if row.method != STRATIFIED],
        )
        for fraction, part in _by_fraction(rows)
    ]


def write_pages(out: Path, result: CompareResult, cells: Sequence[dict[str, Any]], record: dict[str, Any]) -> None:
    """Write the page, the tables and the record of a comparison."""
    write_rows(out, "cells", cells)
    write_rows(out, "summary", [row.flat() for row in result.rows])
    files = Folder(out)
    files.write_json("answer.json", result.to_dict())
    files.write_json("record.json", record)
    files.write_text("README.md", "\n".join(_page(result)) + "\n")


def write_report(path: str | os.PathLike[str], result: CompareResult) -> None:
    """Write the comparison as one HTML page."""
    part = StudyPart("\n".join(_page(result)), _panels(result.rows), verdicts=about_leanset(result.verdicts))
    write_study_page(path, "Comparison of methods on features", [part])


def _panels(rows: Sequence[CompareRow]) -> list[Panel]:
    """Return a chart for each figure that every row knows."""
    compared = [row for row in rows if row.method != FULL]
    against = [row for row in compared if not math.isnan(row.loss.difference)]
    panels = [
        Panel(
            "Loss, against random sets",
            "removed, %",
            "difference in loss",
            [_against(method, _of(against, method)) for method in _methods(against)],
            reference=0.0,
            reference_name=STRATIFIED_SHOWN,
        )
    ]
    for name, title in (("unchanged", "Answers that stay the same"), ("accuracy", "Accuracy on validation rows")):
        if not any(math.isnan(getattr(row, name).mean) for row in compared):
            curves = [_means(method, _of(compared, method), name) for method in _methods(compared)]
            panels.append(Panel(title, "removed, %", "%", curves))
    return panels


def _methods(rows: Sequence[CompareRow]) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows))


def _of(rows: Sequence[CompareRow], method: str) -> list[CompareRow]:
    return sorted((row for row in rows if row.method == method), key=lambda row: row.fraction)


def _against(method: str, rows: Sequence[CompareRow]) -> Curve:
    mean, low, high = ([getattr(row.loss, end) for row in rows] for end in ("difference", "low", "high"))
    return Curve(method, [100 * row.fraction for row in rows], mean, low, high, _style(method))


def _means(method: str, rows: Sequence[CompareRow], name: str) -> Curve:
    means = [100 * getattr(row, name).mean for row in rows]
    return Curve(method, [100 * row.fraction for row in rows], means, style=_style(method))


def _style(method: str) -> Style:
    if method == LEANSET:
        return "ours"
    return "baseline" if method == STRATIFIED else "other"


def _page(result: CompareResult) -> list[str]:
    lines = ["# Comparison", "", result.about, ""]
    for table in (*figure_tables(result.rows), *difference_tables(result.rows)):
        lines += [f"**{table.title}**", "", *table.markdown(), ""]
    return [*lines, *(f"- {line}" for line in result.verdicts)]


def _by_fraction(rows: Sequence[CompareRow]) -> list[tuple[float, list[CompareRow]]]:
    fractions = sorted({row.fraction for row in rows})
    return [(fraction, [row for row in rows if row.fraction == fraction]) for fraction in fractions]


def _removed(fraction: float) -> str:
    return f"{100 * fraction:.4g} % removed"


def _name(row: CompareRow) -> str:
    return shown_name(row.method)


def _figures(row: CompareRow) -> tuple[str, ...]:
    return (
        _name(row),
        _unless_nan(row.accuracy.mean, f"{100 * row.accuracy.mean:.2f} %"),
        f"{row.loss.mean:#.4g}".rstrip("."),
        _unless_nan(row.loss.difference, plus_minus(row.loss.interval(row.seeds), LOSS)),
        "" if math.isnan(row.unchanged.mean) else share(row.unchanged.mean),
        "" if row.method == FULL else change_shown(row),
        _unless_nan(row.seconds.mean, f"{row.seconds.mean:.{0 if row.seconds.mean >= 9.95 else 1}f} s"),
    )


def _differences(row: CompareRow) -> tuple[str, ...]:
    cells = (_difference(getattr(row, name), row.seeds, measure) for name, (_, measure) in _DIFFERENCES.items())
    return (_name(row), *cells)


def _difference(figure: Figure, seeds: int, measure: Measure) -> str:
    mean, low, high = written(figure.interval(seeds), measure)
    text = mean if math.isnan(figure.low) else f"{mean} ({low} to {high})"
    return _unless_nan(figure.difference, text)


def _unless_nan(value: float, text: str) -> str:
    return "" if math.isnan(value) else text
