import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from leanset import Check, CompareResult, Estimate, Frontier, PruneResult
from leanset._arrays import AnyArray
from leanset.report import change, frontier_figure, influence_figure, number, others, summary_rows, urgent, verdict
from leanset.runs import json_safe
from leanset.trials import figure_tables

if TYPE_CHECKING:
    from leanset.evaluate import SummaryRow
    from leanset.training import EpochLog

OUT, ERR = Console(highlight=False), Console(stderr=True, highlight=False)


def show_result(result: PruneResult, folder: str) -> None:
    """Print the summary of a finished run, doubts about it first, and its folder."""
    OUT.print(verdict(result.certificate).line, style="bold", markup=False)
    for doubt in urgent(result.certificate):
        OUT.print(doubt, style="yellow", markup=False)
    if used := result.origin.sentence():
        OUT.print(used, markup=False)
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("", style="bold")
    table.add_column("this set")
    table.add_column("random sets")
    for row in summary_rows(result.certificate):
        table.add_row(*row)
    OUT.print(table)
    OUT.print(result.certificate.outcome)
    for note in others(result.certificate):
        OUT.print(note, style="dim", markup=False)
    show_folder(folder)


def show_folder(folder: str) -> None:
    """Print where an answer was saved."""
    OUT.print(f"Saved in {escape(folder)}", soft_wrap=True)


def show_training(history: "tuple[EpochLog, ...]", accuracy: float | None, folder: str) -> None:
    """Print the result of a training and its folder."""
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_row(
        "accuracy, held out", "unknown: no held-out images" if accuracy is None else f"{100 * accuracy:.2f} %"
    )
    table.add_row("accuracy, while training", f"{100 * history[-1].accuracy:.2f} %  (augmented, last epoch)")
    table.add_row("epochs", f"{len(history)}")
    OUT.print(table)
    show_folder(folder)


def show_comparison(rows: Sequence["SummaryRow"], verdicts: Sequence[str], folder: str) -> None:
    """Print the accuracies, one table per network and protocol, then the verdicts."""
    from leanset.evaluate import FULL, methods_in, parts_of

    for title, part in parts_of(rows):
        fractions = sorted({row.fraction for row in part if row.method != FULL})
        found = {(row.method, row.fraction): row for row in part}
        table = Table(box=box.SIMPLE, title=f"{title}: held-out accuracy, %", title_justify="left", pad_edge=False)
        table.add_column("removed", style="bold")
        for fraction in fractions:
            table.add_column(f"{100 * fraction:g} %", justify="right")
        if (FULL, 0.0) in found:
            table.add_row("all data", *[f"{100 * found[FULL, 0.0].accuracy:.2f}"] * len(fractions), style="dim")
        for method in methods_in(part):
            cells = [found.get((method, fraction)) for fraction in fractions]
            table.add_row(method, *("" if cell is None else f"{100 * cell.accuracy:.2f}" for cell in cells))
        OUT.print(table)
    for line in verdicts:
        OUT.print(line, markup=False)
    show_folder(folder)


def show_trials(result: CompareResult, folder: str) -> None:
    """Print what was compared on features, one table per fraction, then the verdicts."""
    OUT.print(result.about, markup=False)
    for text in figure_tables(result.rows):
        table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True, show_edge=False)  # fits 80 columns
        table.add_column("", style="bold", no_wrap=True)
        for heading in text.header[1:]:
            table.add_column(heading, justify="right")
        for cells in text.lines:
            table.add_row(*cells)
        OUT.print(f"\n[italic]{text.title}[/italic]")
        OUT.print(table)
    OUT.print()
    for line in result.verdicts:
        OUT.print(line, markup=False)
    show_folder(folder)


def show_saved(path: Path) -> None:
    """Print where a page was written."""
    OUT.print(f"Report: {escape(str(path))}", soft_wrap=True)


def warn(message: str) -> None:
    """Print a warning on standard error."""
    ERR.print("[yellow bold]leanset:[/yellow bold]", end=" ")
    ERR.print(message, soft_wrap=True, markup=False)


def show_json(values: dict[str, Any]) -> None:
    """Print plain values as JSON and nothing else."""
    OUT.out(json.dumps(json_safe(values), indent=2, ensure_ascii=False, allow_nan=False))


@contextlib.contextmanager
def silenced(wanted: bool = True) -> Iterator[None]:
    """Print nothing on standard output for a while."""
    before, OUT.quiet = OUT.quiet, OUT.quiet or wanted
    try:
        yield
    finally:
        OUT.quiet = before


def show_estimate(estimate: Estimate, what: str, as_json: bool) -> None:
    """Print the estimated cost of a run."""
    if as_json:
        show_json(estimate.to_dict())
        return
    table = Table(title=escape(what), box=box.SIMPLE, title_justify="left")
    table.add_column("stage")
    table.add_column("about", justify="right")
    for stage, seconds in estimate.stages:
        table.add_row(stage, duration(seconds))
    table.add_row("[bold]total", f"[bold]{duration(estimate.seconds)}")
    table.add_row("peak memory", f"{estimate.memory / 2**20:,.0f} MiB")
    OUT.print(table)
    OUT.print("[dim]Estimated from the shapes and a short test of this machine; nothing was computed or written.[/dim]")


def show_check(check: Check) -> None:
    """Print one check of a re-check."""
    mark = "[green]holds[/green]" if check.holds else "[red bold]FAILS[/red bold]"
    OUT.print(f"  {mark}  {check.name}: {check.detail}")


def show_frontier(frontier: Frontier) -> None:
    """Print the frontier as a table to choose from."""
    table = Table(title="Frontier: the effect of each size", box=box.SIMPLE, title_justify="left")
    for column in ("removed", "share", "head moves by", "random", "validation loss"):
        table.add_column(column, justify="right")
    for point in frontier:
        gap = "" if point.validation_loss_gap is None else change(point.validation_loss_gap)
        moves = number(point.refit_change), number(point.random_refit_change)
        table.add_row(f"{point.removed:,}", f"{100 * point.fraction:.1f} %", *moves, gap)
    OUT.print(table)


def draw_figures(result: PruneResult, folder: Path) -> None:
    """Save the frontier and the influence figure as PNG and SVG, and print their paths."""
    figures = {"influence": influence_figure(result.influence_norm, np.isin(result.rows, result.kept))}
    if len(result.frontier):
        figures["frontier"] = frontier_figure(_columns(result.frontier), result.certificate)
    for name, figure in figures.items():
        for kind in ("png", "svg"):
            figure.savefig(folder / f"{name}.{kind}", dpi=150)
    OUT.print("\nFigures: " + " and ".join(escape(str(folder / f"{name}.png")) for name in sorted(figures)))


def _columns(frontier: Frontier) -> dict[str, AnyArray]:
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
