"""The command line: parse, call, show.

Exit codes: 0 success; 1 a re-check failed; 2 the call or the data are invalid; 3 a folder cannot be read or written,
or a computation cannot be completed; 130 interrupted.
"""

from pathlib import Path
from typing import Annotated

import typer

from leanset import __version__, load
from leanset._errors import InputError
from leanset.checking import checks_of
from leanset.cli import show
from leanset.cli.compare import compare
from leanset.cli.demo import run_demo
from leanset.cli.guard import guarded
from leanset.cli.paper import paper
from leanset.cli.prune import prune_command
from leanset.cli.report import report
from leanset.cli.train import train

app = typer.Typer(
    help="Which training examples can go, how many, and what will it cost?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

app.command("prune")(prune_command)
app.command()(train)
app.command()(compare)
app.command()(paper)
app.command()(report)


@app.command()
@guarded
def verify(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    data: Annotated[
        str | None, typer.Option(help="Data of the run; not needed for a run on images.", show_default=False)
    ] = None,
) -> None:
    """Re-check a saved run with independent code; the exit code is 1 if a check fails."""
    failed = []
    for check in checks_of(run, data):
        show.show_check(check)
        if not check.holds:
            failed.append(check.name)
    if failed:
        show.OUT.print(f"[red bold]Does not hold:[/red bold] {', '.join(failed)}.")
        raise typer.Exit(1)
    show.OUT.print("[green]All checks hold.[/green]")


@app.command("show")
@guarded
def show_run(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    figures: Annotated[
        Path | None, typer.Option(help="Existing folder to save figures in (needs the report extra).")
    ] = None,
) -> None:
    """Show a saved run: its table, its frontier and optionally its figures."""
    result = load(run)
    show.show_result(result, str(run))
    if len(result.frontier):
        show.show_frontier(result.frontier)
    if figures is not None:
        if not figures.is_dir():
            raise InputError(f"--figures {figures}: is not an existing folder.")
        show.draw_figures(result, figures)


@app.command()
@guarded
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the two runs and their figures.")] = Path("leanset-demo"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in that folder.")] = False,
) -> None:
    """Show on real data how few examples give the same model, and re-check it; under two minutes."""
    run_demo(out, overwrite=overwrite)


def _version(wanted: bool) -> None:
    if wanted:
        show.OUT.print(f"leanset {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    app()
