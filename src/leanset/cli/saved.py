"""Commands on a saved run."""

from pathlib import Path
from typing import Annotated

import typer

from leanset import load
from leanset._errors import InputError
from leanset.checking import checks_of
from leanset.cli import show
from leanset.cli.guard import guarded

Run = Annotated[Path, typer.Argument(help="Run folder.")]


@guarded
def verify(
    run: Run,
    data: Annotated[
        str | None, typer.Option(help="Data of the run; not needed for a run on images.", show_default=False)
    ] = None,
) -> None:
    """Re-check a saved run with independent code; the exit code is 1 if a check fails.

    Example: leanset verify run/ --data features.npz
    """
    failed = []
    for check in checks_of(run, data):
        show.show_check(check)
        if not check.holds:
            failed.append(check.name)
    if failed:
        show.OUT.print(f"[red bold]Does not hold:[/red bold] {', '.join(failed)}.")
        raise typer.Exit(1)
    show.OUT.print("[green]All checks hold.[/green]")


@guarded
def show_run(
    run: Run,
    figures: Annotated[
        Path | None, typer.Option(help="Existing folder to save figures in (needs the report extra).")
    ] = None,
) -> None:
    """Show a saved run: its table, its frontier and optionally its figures.

    Example: leanset show run/ --figures .
    """
    result = load(run)
    show.show_result(result, str(run))
    if len(result.frontier):
        show.show_frontier(result.frontier)
    if figures is not None:
        if not figures.is_dir():
            raise InputError(f"--figures {figures}: is not an existing folder.")
        show.draw_figures(result, figures)
