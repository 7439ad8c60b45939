import contextlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table

from leanset._arrays import AnyArray
from leanset._folder import json_safe
from leanset.cli.screen import Screen, knows_unicode, one_line, styled, visible

if TYPE_CHECKING:
    from leanset import Check, CompareResult, Estimate, Frontier, PruneResult
    from leanset.evaluate import Answer, SummaryRow
    from leanset.judge import Forecast
    from leanset.training import EpochLog, Quality

OUT, ERR = Screen(), Screen(stderr=True)


def show_result(result: "PruneResult", folder: str) -> None:
    """Print the summary of a finished run, doubts about it first, and its folder."""
    from leanset.cli.wording import in_options  # here and below: no help text needs it
    from leanset.report import others, summary_rows, urgent, verdict

    def said(text: str, style: str = "") -> None:
        OUT.print(one_line(in_options(text)), style=style)

    said(verdict(result.certificate).line, "bold")
    for doubt in urgent(result.certificate):
        said(doubt, "yellow")
    if used := result.origin.sentence():
        OUT.print(one_line(used))
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("", style="bold")
    table.add_column("this set")
    table.add_column("random sets")
    for row in summary_rows(result.certificate):
        table.add_row(*map(one_line, row))
    OUT.print(table)
    said(result.certificate.outcome)
    for note in others(result.certificate):
        said(note, "dim")
    show_folder(folder)


def show_folder(folder: str) -> None:
    """Print where an answer was saved."""
    OUT.print(f"Saved in {folder}", soft_wrap=True)


def show_next(command: str) -> None:
    """Print the command that people usually want next."""
    OUT.print(f"Train on what is kept: {command}", soft_wrap=True)


def show_training(history: "tuple[EpochLog, ...]", quality: "Quality | None", folder: str) -> None:
    """Print the result of a training and its folder."""
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    if quality is None:
        table.add_row("accuracy, held out", "unknown: no held-out images")
    else:
        table.add_row("accuracy, held out", f"{100 * quality.accuracy:.2f} %")
        scaled = f"; {quality.scaled_loss:.3f} if all logits are divided by about {quality.temperature:.2f}"
        table.add_row("loss, held out", f"{quality.loss:.3f}{scaled if quality.worth_scaling else ''}")
    table.add_row("accuracy, while training", f"{100 * history[-1].accuracy:.2f} %  (augmented, last epoch)")
    table.add_row("epochs", f"{len(history)}")
    OUT.print(table)
    show_folder(folder)


def show_comparison(answer: "Answer", folder: str) -> None:
    """Print accuracies and differences to random by network and protocol, the time of choosing, and what is said of leanset."""
    from leanset.evaluate import parts_of
    from leanset.judge import ON_ALL, STRATIFIED, STRATIFIED_SHOWN

    parts = parts_of(answer.rows)
    for title, part in parts:
        _show_by_fraction(f"{title}: held-out accuracy, %", part, lambda row: f"{100 * row.accuracy:.2f}")
        if compared := [row for row in part if row.method != STRATIFIED and not math.isnan(row.against_baseline)]:
            against = f"{title}: points against {STRATIFIED_SHOWN} (± 95 % interval)"
            _show_by_fraction(against, compared, _points)
    chosen = [row for row in parts[0][1] if row.method not in ON_ALL]
    _show_by_fraction("Choosing one set, seconds", chosen, _choosing_seconds)
    OUT.print(f"\n{answer.choosing}\n")
    for line in answer.about_leanset:
        OUT.print(line)
    show_folder(folder)


def _points(row: "SummaryRow") -> str:
    """Return the difference to the baseline and half the width of its interval."""
    from leanset.judge import POINTS, plus_minus

    return plus_minus(row.difference, POINTS)


def _choosing_seconds(row: "SummaryRow") -> str:
    return "" if math.isnan(row.choosing_seconds) else f"{row.choosing_seconds:.3g}"


def _show_by_fraction(title: str, rows: Sequence["SummaryRow"], shown: "Callable[[SummaryRow], str]") -> None:
    from leanset.evaluate import methods_in
    from leanset.judge import FULL, shown_name

    fractions = sorted({row.fraction for row in rows if row.method != FULL})
    found = {(row.method, row.fraction): shown(row) for row in rows}
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False, collapse_padding=True)  # six fractions in 80 columns
    table.add_column("removed", style="bold")
    for fraction in fractions:
        table.add_column(f"{100 * fraction:g} %", justify="right", no_wrap=True)
    if on_all := found.get((FULL, 0.0)):
        table.add_row(shown_name(FULL), *[on_all] * len(fractions), style="dim")
    for method in methods_in(rows):
        table.add_row(shown_name(method), *(found.get((method, fraction), "") for fraction in fractions))
    _print_titled(title, table)


def _print_titled(title: str, table: Table) -> None:
    """Print a table under a title that may be wider than the table; Rich's own titles are broken to its width."""
    OUT.print(f"\n{title}", style="italic")
    OUT.print(table)


def show_trials(result: "CompareResult", folder: str) -> None:
    """Print what was compared on features, one table per fraction, then the verdicts."""
    from leanset.trials import figure_tables

    OUT.print(result.about)
    for text in figure_tables(result.rows):
        table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True, show_edge=False)  # fits 80 columns
        table.add_column("", style="bold", no_wrap=True)
        for heading in text.header[1:]:
            table.add_column(heading, justify="right")
        for cells in text.lines:
            table.add_row(*cells)
        _print_titled(text.title, table)
    OUT.print()
    for line in result.verdicts:
        OUT.print(line)
    show_folder(folder)


def show_saved(path: Path) -> None:
    """Print where a page was written."""
    OUT.print(f"Report: {path}", soft_wrap=True)


def complain(message: str, style: str) -> None:
    """Print a warning or an error on standard error, in one line."""
    ERR.print(styled(("leanset:", style), f" {one_line(message)}"), soft_wrap=True)


def show_json(values: dict[str, Any]) -> None:
    """Print plain values as JSON and nothing else."""
    text = json.dumps(json_safe(values), indent=2, ensure_ascii=not knows_unicode(), allow_nan=False)
    OUT.out(visible(text))  # what it writes out has the form of JSON's own escapes


@contextlib.contextmanager
def silenced(wanted: bool = True) -> Iterator[None]:
    """Print nothing on standard output for a while."""
    before, OUT.quiet = OUT.quiet, OUT.quiet or wanted
    try:
        yield
    finally:
        OUT.quiet = before


def show_estimate(estimate: "Estimate", what: str, as_json: bool) -> None:
    """Print the estimated cost of a run."""
    if as_json:
        show_json(estimate.to_dict())
        return
    table = Table(title=what, box=box.SIMPLE, title_justify="left")
    table.add_column("stage")
    table.add_column("about", justify="right")
    for stage, seconds in estimate.stages:
        table.add_row(stage, duration(seconds))
    table.add_row("total", duration(estimate.seconds), style="bold")
    table.add_row("peak memory", f"{estimate.memory / 2**20:,.0f} MiB")
    OUT.print(table)
    OUT.print(
        "Estimated from the shapes and a short test of this machine; nothing was computed or written.", style="dim"
    )


def show_forecast(forecast: "Forecast", what: str, as_json: bool) -> None:
    """Print the estimated cost of a comparison, and what of it is finished."""
    if as_json:
        show_json(forecast.to_dict())
        return
    trains = any(share.pflop is not None for share in forecast.shares)
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    table.add_column("work")
    for heading in ("done", "one takes", *(("of a\ntraining",) * trains), "left"):
        table.add_column(heading, justify="right", no_wrap=True)
    for share in forecast.shares:
        of_full = "" if share.of_full_training is None else f"{100 * share.of_full_training:.3g} %"
        done = f"{share.finished:,} of {share.number:,}"
        table.add_row(share.work, done, duration(share.each), *((of_full,) * trains), duration(share.left))
    OUT.print(what, style="italic", soft_wrap=True)
    OUT.print(table)
    work = _work_left(forecast) if trains else ""
    OUT.print(styled("About ", (duration(forecast.seconds), "bold"), f" are left{work}."))
    OUT.print("Estimated from a few timed steps and a short test of this machine; nothing was written.", style="dim")


def _work_left(forecast: "Forecast") -> str:
    number = "one training" if forecast.workers == 1 else f"{forecast.workers} trainings"
    passes = sum(share.image_passes or 0 for share in forecast.shares)
    pflop = sum(share.pflop or 0.0 for share in forecast.shares)
    return f", {number} at a time: {pflop:.3g} PFLOP, {passes:,} times an image"


def show_check(check: "Check") -> None:
    """Print one check of a re-check."""
    mark = ("holds", "green") if check.holds else ("FAILS", "red bold")
    mark = mark if check.checked else ("said ", "dim")
    OUT.print(styled("  ", mark, f"  {one_line(check.name)}: {one_line(check.detail)}"))


def show_frontier(frontier: "Frontier") -> None:
    """Print the frontier as a table to choose from."""
    from leanset.report import change, number

    table = Table(title="Frontier: the effect of each size", box=box.SIMPLE, title_justify="left")
    for column in ("removed", "share", "head moves by", "random", "validation loss"):
        table.add_column(column, justify="right")
    for point in frontier:
        gap = "" if point.validation_loss_gap is None else change(point.validation_loss_gap)
        moves = number(point.refit_change), number(point.random_refit_change)
        table.add_row(f"{point.removed:,}", f"{100 * point.fraction:.1f} %", *moves, gap)
    OUT.print(table)


def draw_figures(result: "PruneResult", folder: Path) -> None:
    """Save the frontier and the influence figure as PNG and SVG, and print their paths."""
    from leanset.report import frontier_figure, influence_figure

    figures = {"influence": influence_figure(result.influence_norm, np.isin(result.rows, result.kept))}
    if len(result.frontier):
        figures["frontier"] = frontier_figure(_columns(result.frontier), result.certificate)
    for name, figure in figures.items():
        for kind in ("png", "svg"):
            figure.savefig(folder / f"{name}.{kind}", dpi=150)
    OUT.print("\nFigures: " + " and ".join(str(folder / f"{name}.png") for name in sorted(figures)), soft_wrap=True)


def _columns(frontier: "Frontier") -> dict[str, AnyArray]:
    names = ("fraction", "refit_change", "random_refit_change", "validation_loss_gap")
    return {name: np.array([getattr(point, name) for point in frontier], dtype=np.float64) for name in names}


def duration(seconds: float) -> str:
    """Return a duration in readable form.

    Examples
    --------
    >>> duration(0.4), duration(75), duration(7300)
    ('0.4 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
