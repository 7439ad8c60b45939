"""The command line: parse, call, show.

Exit codes: 0 success; 1 a re-check failed; 2 the call or the data are invalid; 3 a folder cannot be read or written,
or a computation cannot be completed; 4 an error that nobody foresaw, which asks for a report; 130 interrupted.
"""

from typing import Annotated

import typer

from leanset import __version__
from leanset.cli.brief import BriefCommand
from leanset.cli.lazy import Entry, group_of, imported
from leanset.cli.screen import take_any_character

ENTRIES = {
    "prune": Entry("leanset.cli.prune", "prune_command", "Find examples to remove and certify the effect."),
    "train": Entry(
        "leanset.cli.train",
        "train",
        "Train a network on all images, or on those that a run kept, and test it on the held-out ones.",
    ),
    "compare": Entry("leanset.cli.compare", "compare", "Compare methods on your own data, with several seeds."),
    "paper": Entry(
        "leanset.cli.paper", "paper", "Repeat the paper's experiments, each with its tables, figures and record."
    ),
    "report": Entry(
        "leanset.cli.report",
        "report",
        "Write a page about a saved run: one HTML file that opens from disk and needs no network.",
    ),
    "verify": Entry(
        "leanset.cli.saved",
        "verify",
        "Re-check a saved run with independent code; the exit code is 1 if a check fails.",
    ),
    "export": Entry(
        "leanset.cli.export",
        "export",
        "Copy the kept image files of a run into a new folder, one sub-folder for each class.",
    ),
    "show": Entry(
        "leanset.cli.saved", "show_run", "Show a saved run: its table, its frontier and optionally its figures."
    ),
    "demo": Entry(
        "leanset.cli.demo",
        "demo",
        "Show on real data how few examples give the same model, and re-check it; under two minutes.",
    ),
    "doctor": Entry("leanset.cli.doctor", "doctor", "Say what is installed, what is missing, and how to get it."),
}

app = typer.Typer(
    cls=group_of(ENTRIES),
    help="Which training examples can go, how many, and what will it cost?",
    epilog="Start with: leanset demo. Help on a command: leanset prune --help",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def commands() -> dict[str, BriefCommand]:
    """Return every command by its name, imported."""
    return {name: imported(name, entry) for name, entry in ENTRIES.items()}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"leanset {__version__}")
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
    take_any_character()
    try:
        app()
    except Exception as error:  # outside of commands: while they are imported and their options are read
        from leanset.cli.guard import ended_in_words  # here, because the first screen does without what it imports

        raise SystemExit(ended_in_words(error)) from None
