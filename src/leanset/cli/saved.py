"""Commands on a saved run."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from leanset import load
from leanset._errors import InputError
from leanset.checking import checks_of
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.cli.screen import styled
from leanset.settings import ReadingOptions

Run = Annotated[Path, typer.Argument(help="Run folder.")]


@guarded
@options.with_settings(ReadingOptions)
def verify(
    run: Run,
    settings: ReadingOptions,
    data: Annotated[
        str | None,
        typer.Option(
            help="Data of the run; not needed for a run on images, or on a file that is still where it was.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="PEM file of the public key that the run has to be signed by.", show_default=False),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Re-check a saved run with independent code; the exit code is 1 if a check fails.

    Example: leanset verify run/ --data features.npz
    """
    checks = []
    for check in checks_of(run, data, reading=settings if settings.given() else None, key=key):
        checks.append(check)
        if not as_json:
            show.show_check(check)
    failed = [check.name for check in checks if not check.holds]
    if as_json:
        show.show_json({"holds": not failed, "checks": [asdict(check) for check in checks]})
        raise typer.Exit(1 if failed else 0)
    if failed:
        show.OUT.print(styled(("Does not hold:", "red bold"), f" {', '.join(failed)}."))
        raise typer.Exit(1)
    said = sum(not check.checked for check in checks)
    rest = f" {len(checks) - said} were made; {said} lines are only said, not checked."
    show.OUT.print(styled(("All checks hold.", "green"), rest))


@guarded
def show_run(
    run: Run,
    figures: Annotated[
        Path | None, typer.Option(help="Existing folder to save figures in (needs the report extra).")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a saved run: its table, its frontier and optionally its figures.

    Example: leanset show run/ --figures .
    """
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
