"""The command line: parse, call, show.

Exit codes: 0 success; 1 a re-check failed; 2 the call or the data are invalid; 3 a folder cannot be read or written,
or a computation cannot be completed; 130 interrupted.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from leanset import __version__, load
from leanset._errors import InputError
from leanset.checking import checks_of
from leanset.cli import options, show
from leanset.cli.compare import compare
from leanset.cli.demo import run_demo
from leanset.cli.export import export
from leanset.cli.guard import guarded
from leanset.cli.paper import paper
from leanset.cli.prune import prune_command
from leanset.cli.report import report
from leanset.cli.train import train
from leanset.settings import ReadingOptions

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


app.command()(export)


@app.command()
@guarded
@options.with_settings(ReadingOptions)
def verify(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    settings: ReadingOptions,
    data: Annotated[
        str | None,
        typer.Option(
            help="Data of the run; not needed for a run on images, or on a file that is still where it was.",
            show_default=False,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Re-check a saved run with independent code; the exit code is 1 if a check fails."""
    checks = []
    for check in checks_of(run, data, reading=settings if settings.given() else None):
        checks.append(check)
        if not as_json:
            show.show_check(check)
    failed = [check.name for check in checks if not check.holds]
    if as_json:
        show.show_json({"holds": not failed, "checks": [asdict(check) for check in checks]})
        raise typer.Exit(1 if failed else 0)
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
    as_json: options.AsJson = False,
) -> None:
    """Show a saved run: its table, its frontier and optionally its figures."""
    result = load(run)
    with show.silenced(as_json):
        show.show_result(result, str(run))
        if len(result.frontier):
            show.show_frontier(result.frontier)
        if figures is not None:
            if not figures.is_dir():
                raise InputError(f"--figures {figures}: is not an existing folder.")
            show.draw_figures(result, figures)
    if as_json:
        show.show_json(result.to_dict() | {"folder": str(run)})


@app.command()
@guarded
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the two runs and their figures.")] = Path("leanset-demo"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in that folder.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show on real data how few examples give the same model, and re-check it; under two minutes."""
    with show.silenced(as_json):
        results = run_demo(out, overwrite=overwrite)
    if as_json:
        show.show_json({folder: result.to_dict() for folder, result in results.items()})


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
