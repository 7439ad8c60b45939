"""Finished cells, summarised over seeds: means, paired differences to the baseline, and verdicts in words."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from leanset._arrays import Rows, Vector
from leanset._folder import json_safe
from leanset.judge import (
    FULL,
    LOSS,
    STRATIFIED,
    Comparison,
    Interval,
    paired,
    paired_by_row,
    verdict,
)
from leanset.report import share
from leanset.trials.cell import Cell

Cells = Mapping[tuple[str, float], Sequence[Cell]]  # by method and fraction: one cell for each seed


@dataclass(frozen=True)
class Figure:
    """The mean of a figure over the seeds, and its paired difference to class-stratified random.

    Attributes
    ----------
    mean : over the seeds; NaN if the figure does not apply
    difference, low, high : the method's minus the baseline's, with its 95 % interval
    """

    mean: float
    difference: float
    low: float
    high: float

    def interval(self, seeds: int) -> Interval:
        """Return the difference with its interval."""
        return Interval(self.difference, self.low, self.high, seeds)


@dataclass(frozen=True)
class CompareRow:
    """One method at one fraction; or the head of all data ("full"), compared with the baseline of that fraction.

    Attributes
    ----------
    method, fraction, seeds, kept : what was done, how often, and how many training rows stayed
    accuracy, loss : on the validation rows
    unchanged : share of answers on the validation rows that are those of the head of all data
    change : ‖Δθ‖/‖θ̂‖, how far the head moves from that of all data
    change_error : bound on the error of `change`; a smaller change is none that a fit can tell
    seconds : time to choose

    Examples
    --------
    >>> import numpy as np, leanset
    >>> table = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = leanset.compare(table, table[:, 0] > 0, methods=["el2n"], fractions=[0.5], seeds=2)
    >>> row = found.rows[-1]
    >>> row.method, row.kept, row.accuracy.mean > 0.5
    ('el2n', 24, True)
    """

    method: str
    fraction: float
    seeds: int
    kept: int
    accuracy: Figure
    loss: Figure
    unchanged: Figure
    change: Figure
    change_error: float
    seconds: Figure

    def flat(self) -> dict[str, Any]:
        """Return the row for a table: each figure under its name, what belongs to it with the name in front."""
        row: dict[str, Any] = {}
        for name, value in asdict(self).items():
            parts = value if isinstance(value, dict) else {"mean": value}
            row |= {name if part == "mean" else f"{name}_{part}": number for part, number in parts.items()}
        return row


@dataclass(frozen=True)
class CompareResult:
    """What `leanset.compare` found.

    Attributes
    ----------
    rows : for each fraction the head of all data, then one row for each method, the baseline first
    verdicts : each method against class-stratified random, in words
    about : what was compared, what a seed changes and what the intervals cover

    Examples
    --------
    >>> import numpy as np, leanset
    >>> table = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = leanset.compare(table, table[:, 0] > 0, methods=["el2n"], fractions=[0.5], seeds=2)
    >>> [row.method for row in found.rows], sorted(found.to_dict())
    (['full', 'stratified-random', 'el2n'], ['about', 'rows', 'verdicts'])
    """

    rows: tuple[CompareRow, ...]
    verdicts: tuple[str, ...]
    about: str

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a page about the comparison: one HTML file that opens from disk and needs no network."""
        from leanset.trials.pages import write_report  # which lays this result out, so it imports this file

        write_report(path, self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with None for NaN."""
        rows = [asdict(row) for row in self.rows]
        plain: dict[str, Any] = json_safe({"about": self.about, "rows": rows, "verdicts": self.verdicts})
        return plain


def summarise(cells: Cells, rows: Sequence[Rows]) -> tuple[CompareRow, ...]:
    """Summarise cells over their seeds.

    Parameters
    ----------
    cells : of every method and fraction, one for each seed; also of the baseline and of the head of all data
    rows : for each seed, the numbers of its validation rows
    """
    return tuple(
        _row(method, fraction, mine, cells.get((STRATIFIED, fraction), ()), rows)
        for (method, fraction), mine in cells.items()
    )


def _row(
    method: str, fraction: float, mine: Sequence[Cell], baseline: Sequence[Cell], rows: Sequence[Rows]
) -> CompareRow:
    theirs = () if method == STRATIFIED else baseline

    def by_row(values: Callable[[Cell], Vector]) -> Figure:
        ours, others = [values(cell) for cell in mine], [values(cell) for cell in theirs]
        known = others and not np.isnan(ours[0]).any()
        return _figure([each.mean() for each in ours], paired_by_row(ours, others, rows) if known else None)

    def by_seed(value: Callable[[Cell], float]) -> Figure:
        ours, others = [value(cell) for cell in mine], [value(cell) for cell in theirs]
        known = others and not np.isnan(ours).any()
        return _figure(ours, paired(ours, others).difference if known else None)

    return CompareRow(
        method=method,
        fraction=fraction,
        seeds=len(mine),
        kept=mine[0].kept,
        accuracy=by_row(lambda cell: cell.right),
        loss=by_row(lambda cell: cell.losses),
        unchanged=by_row(lambda cell: cell.unchanged),
        change=by_seed(lambda cell: cell.change),
        change_error=max(cell.change_error for cell in mine),
        seconds=by_seed(lambda cell: cell.seconds),
    )


def _figure(values: Sequence[float], against: Interval | None) -> Figure:
    mean = float(np.mean(values))
    if against is None:
        return Figure(mean, math.nan, math.nan, math.nan)
    return Figure(mean, against.mean, against.low, against.high)


def verdicts(rows: Iterable[CompareRow]) -> tuple[str, ...]:
    """Say in words how each method's loss compares with that of class-stratified random, fraction by fraction.

    If even the head of all data loses to a random part of them, that is said too: then the losses measure how much a
    choice happens to tame the head, not how well it stands for all data.
    """
    known = list(rows)
    baseline = {row.fraction: row for row in known if row.method == STRATIFIED}
    said = []
    for row in known:
        if row.method == FULL and row.loss.low > 0:
            said.append(_verdict(row, "all data", "; a lower loss is no sign of a better choice here: try a larger l2"))
        elif row.method not in (FULL, STRATIFIED):
            random = f"{STRATIFIED}: {_stays(baseline[row.fraction])}"
            what = (
                "the head moves by {} of its norm" if math.isnan(row.unchanged.mean) else "{} of the answers unchanged"
            )
            said.append(_verdict(row, row.method, f"; {what.format(_stays(row))} ({random})"))
    return tuple(said)


def _verdict(row: CompareRow, name: str, more: str) -> str:
    comparison = Comparison(row.loss.interval(row.seeds), math.nan)
    return verdict(name, STRATIFIED, row.fraction, comparison, measure=LOSS, more=more)


def _stays(row: CompareRow) -> str:
    return change_shown(row) if math.isnan(row.unchanged.mean) else share(row.unchanged.mean)


def change_shown(row: CompareRow) -> str:
    """Write how far the head moves; a change that a fit cannot tell from none is written as a bound."""
    return f"< {row.change_error:.1g}" if row.change.mean <= row.change_error else f"{row.change.mean:.3g}"
