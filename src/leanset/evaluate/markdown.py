"""Markdown tables of summaries."""

import math
from collections.abc import Sequence

from leanset.evaluate.summary import SummaryRow
from leanset.judge import (
    FULL,
    ON_ALL,
    POINTS,
    STRATIFIED,
    STRATIFIED_SHOWN,
    fraction_table,
    in_seeds,
    plus_minus,
    shown_name,
)


def accuracy_table(rows: Sequence[SummaryRow], title: str = "Equal epochs") -> list[str]:
    """Return the accuracies as a Markdown table."""
    cells = {(shown_name(row.method), row.fraction): _with_interval(row) for row in rows if row.method != FULL}
    return fraction_table(f"{title}, accuracy %", cells, [_with_interval(row) for row in rows if row.method == FULL])


def loss_table(rows: Sequence[SummaryRow], title: str = "Equal epochs") -> list[str]:
    """Return the losses as a Markdown table, in brackets those with scaled logits where they are known.

    Nothing if no loss is known.
    """
    cells = {(shown_name(row.method), row.fraction): _losses(row) for row in rows if row.method != FULL}
    on_all = [_losses(row) for row in rows if row.method == FULL]
    known = any(cells.values()) or any(on_all)
    return fraction_table(f"{title}, loss (with logits scaled)", cells, on_all) if known else []


def difference_table(rows: Sequence[SummaryRow]) -> list[str]:
    """Return the paired differences to class-stratified random as a Markdown table; nothing if there are none."""
    cells = {
        (shown_name(row.method), row.fraction): plus_minus(row.difference, POINTS)
        for row in rows
        if row.method != STRATIFIED and not math.isnan(row.against_baseline)
    }
    return fraction_table(f"points against {STRATIFIED_SHOWN} (± 95 % interval)", cells) if cells else []


def certificate_table(rows: Sequence[SummaryRow]) -> list[str]:
    """Return a Markdown table of how many times less the head changes than after a random removal."""
    cells = {
        (shown_name(row.method), row.fraction): f"{row.below_random:.2g}" for row in rows if row.method not in ON_ALL
    }
    return fraction_table("change of the head, times below random", cells)


def seeds_table(rows: Sequence[SummaryRow]) -> list[str]:
    """Return a Markdown table of the number of seeds; nothing if it is the same everywhere."""
    cells = {(shown_name(row.method), row.fraction): str(row.seeds) for row in rows if row.method != FULL}
    on_all = [str(row.seeds) for row in rows if row.method == FULL]
    full = len(cells) == len({method for method, _ in cells}) * len({fraction for _, fraction in cells})
    return [] if full and len({*cells.values(), *on_all}) == 1 else fraction_table("seeds so far", cells, on_all)


def work_table(rows: Sequence[SummaryRow], title: str) -> list[str]:
    """Return a Markdown table of what a training takes: arithmetic and time; nothing if its arithmetic is not known.

    It is the same for every method that keeps as much; of the times the shortest is told.
    """
    known = [row for row in rows if not math.isnan(row.pflop)]
    by_fraction: dict[tuple[str, float], SummaryRow] = {}
    for row in known:
        if row.method not in ON_ALL:
            place = ("what is kept", row.fraction)
            by_fraction[place] = min(by_fraction.get(place, row), row, key=_core_seconds)
    cells = {place: _work(row) for place, row in by_fraction.items()}
    on_all = [_work(row) for row in known if row.method == FULL]
    return fraction_table(f"{title}, PFLOP and core-seconds", cells, on_all) if cells else []


def choosing_table(rows: Sequence[SummaryRow]) -> list[str]:
    """Return a Markdown table of the time that choosing takes, beside that of training on all examples."""
    cells = {(shown_name(row.method), row.fraction): _choosing(row) for row in rows if row.method not in ON_ALL}
    return fraction_table("choosing one set, of one training on all data", cells)


def _losses(row: SummaryRow) -> str:
    if math.isnan(row.loss):
        return ""
    scaled = "" if math.isnan(row.scaled_loss) else f" ({row.scaled_loss:.3f})"
    fewer = f", {in_seeds(row.loss_seeds)}" if row.loss_seeds < row.seeds else ""
    return f"{row.loss:.3f}{scaled}{fewer}"


def _work(row: SummaryRow) -> str:
    return f"{row.pflop:.3g}" + ("" if math.isnan(row.core_seconds) else f", {row.core_seconds:.3g} s")


def _core_seconds(row: SummaryRow) -> float:
    return math.inf if math.isnan(row.core_seconds) else row.core_seconds


def _choosing(row: SummaryRow) -> str:
    """Return the time of choosing in seconds, and as a share of one training on all examples if that is known."""
    share = "" if math.isnan(row.choosing_share) else f" ({100 * row.choosing_share:.3g} %)"
    return "" if math.isnan(row.choosing_seconds) else f"{row.choosing_seconds:.3g} s{share}"


def _with_interval(row: SummaryRow) -> str:
    half = 50 * (row.high - row.low)
    return f"{100 * row.accuracy:.1f}" if math.isnan(half) else f"{100 * row.accuracy:.1f} ± {half:.1f}"
