"""Short help: `--help` shows the options that most people need, `--help-all` all of them."""

import copy
import re
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

_EVERY = "leanset.cli: every option is shown"


def _show_every_option(context: typer.Context, wanted: bool) -> None:
    if wanted:
        context.meta[_EVERY] = True
        typer.echo(context.get_help(), color=context.color)
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option("--help-all", is_eager=True, callback=_show_every_option, help="Show all options and exit."),
]


def _in_short(parameter: Any) -> Any:
    """Return a parameter for the short help: an option's help ends before its first list or afterthought."""
    if not isinstance(parameter, TyperOption) or not parameter.help:
        return parameter
    short = copy.copy(parameter)
    short.help = f"{re.split('[:;] ', parameter.help)[0].rstrip('.')}."
    return short


class BriefCommand(TyperCommand):
    """A command whose help leaves out some options unless all are asked for."""

    seldom: frozenset[str] = frozenset()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; without the options that are seldom needed, unless `--help-all` asked for them."""
        if not self.seldom or ctx.meta.get(_EVERY):
            super().format_help(ctx, formatter)
            return
        brief = copy.copy(self)
        brief.seldom = frozenset()
        brief.params = [_in_short(item) for item in self.params if item.name not in self.seldom]
        brief.epilog = f"{len(self.seldom)} more options, in groups: {ctx.command_path} --help-all"
        brief.format_help(ctx, formatter)
