"""Commands that are imported when they are called: `leanset --help` needs their names and first lines only."""

import importlib
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from leanset.cli.brief import BriefCommand


class Entry(NamedTuple):
    """A command in the list of `leanset --help`: its module, its function there, and the first line of its help."""

    module: str
    function: str
    line: str


def imported(name: str, entry: Entry) -> BriefCommand:
    """Import a command and read its options."""
    function = getattr(importlib.import_module(entry.module), entry.function)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    alone.command(name, cls=BriefCommand)(function)
    command = typer.main.get_command(alone)
    assert isinstance(command, BriefCommand)  # it has the class that was asked for
    command.seldom = getattr(function, "seldom", frozenset())
    return command


class LazyCommand(TyperCommand):
    """Stands for a command in lists, and becomes the command when its arguments are read."""

    def __init__(self, name: str, entry: Entry) -> None:
        super().__init__(name, help=entry.line)
        self.entry = entry

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Import the command and let it read its arguments."""
        return imported(str(self.name), self.entry).make_context(info_name, args, *rest, **extra)


def group_of(entries: dict[str, Entry]) -> type[TyperGroup]:
    """Return the class of a group whose commands are imported when they are called."""

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            for name, entry in entries.items():
                self.add_command(LazyCommand(name, entry))

        def invoke(self, ctx: Any) -> Any:
            # A command at work says by itself how to resume; this is for Ctrl-C while it is imported.
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                typer.echo("leanset: interrupted.", err=True)
                raise typer.Exit(130) from None

    return LazyGroup
