"""Command-line options, generated from the settings classes: name, type, help and check of each."""

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from leanset._errors import InputError
from leanset._options import Checked, default_of, options_of, value_type
from leanset._progress import Reporter
from leanset.cli.brief import HelpAll
from leanset.data import Images
from leanset.inputs import STATISTICS, read_source
from leanset.settings import ReadingOptions

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="cifar10:, cifar100:, tiny-imagenet:, idx:, folder:, npz:, npy:, parquet:, csv:, jsonl:, hf: or zarr: and a "
        "path; head: and a folder of head statistics; or an npz, npy, parquet, csv or jsonl file, or a zarr store, of features "
        "and labels.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Also write a page about the result, one HTML file.", show_default=False
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the estimated cost and stop.")]
StudyPlan = Annotated[
    bool, typer.Option("--dry-run", "--plan", help="Show what is left to do and what it would take, and stop.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress and no table.")]
_HELP_ALL = inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll)


def with_settings(
    kind: type[Checked], *, leave_out: Iterable[str] = (), often: Iterable[str] = ()
) -> Callable[[Callable[..., None]], Any]:
    """Give a command the options of a settings class; it receives them as one checked object, `settings`.

    If `often` names some of them, the others are left out of the short help.
    """
    names = [name for name, option in options_of(kind).items() if option.on_command_line and name not in set(leave_out)]

    def decorate(command: Callable[..., None]) -> Any:
        own = [item for item in _parameters(command) if item.name != "settings"]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            given.pop("help_all", None)
            texts = {name: given.pop(name) for name in names}
            command(settings=settings_from_text(kind, texts), **given)

        parameters = [*own, *(_parameter(kind, name) for name in names)]
        if often:
            run.seldom = frozenset(names) - frozenset(often)  # type: ignore[attr-defined]
            parameters.insert(len(own), _HELP_ALL)
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {item.name: item.annotation for item in parameters}
        return run

    return decorate


def settings_from_text(kind: type[Checked], texts: dict[str, Any]) -> Any:
    """Build a settings object from the command line's values."""
    options, values = options_of(kind), {}
    for item in fields(kind):
        text, read = texts.get(item.name), options[item.name].read
        if text is not None and text != _default(item):
            values[item.name] = text if read is None else read(text)
    return kind(**values)


def _parameters(command: Callable[..., None]) -> list[inspect.Parameter]:
    hints = get_type_hints(command, include_extras=True)
    return [
        item.replace(annotation=hints.get(item.name, item.annotation), kind=inspect.Parameter.KEYWORD_ONLY)
        for item in inspect.signature(command).parameters.values()
    ]


def _parameter(kind: type[Checked], name: str) -> inspect.Parameter:
    item = next(item for item in fields(kind) if item.name == name)
    option, flag, taken = options_of(kind)[name], f"--{name.replace('_', '-')}", _type(kind, name)
    if taken is bool and default_of(item) is not False:
        flag = f"{flag}/--no-{name.replace('_', '-')}"
    described = typer.Option(
        flag,
        help=f"{option.help[0].upper()}{option.help[1:]}.",
        rich_help_panel=option.panel or None,
        show_default=option.shown or True,
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=_default(item), annotation=Annotated[taken | None, described]
    )


def _default(item: Any) -> Any:
    value = default_of(item)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _type(kind: type[Checked], name: str) -> Any:
    """Return the type for the command line: the option's own, or text if the option converts it."""
    if options_of(kind)[name].read is not None:
        return str
    known = value_type(kind, name)
    return Path if os.PathLike in {getattr(part, "__origin__", part) for part in get_args(known)} else known


def images_from(source: str, settings: ReadingOptions, reporter: Reporter, purpose: str) -> Images:
    """Read images; raise if the source contains features instead."""
    data = None if source.startswith(STATISTICS) else read_source(source, settings, reporter)
    if not isinstance(data, Images):
        raise InputError(f"{source}: contains features; {purpose} networks on images.")
    return data
