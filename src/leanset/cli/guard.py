import functools
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec

import typer

from leanset._errors import InputError, LeansetError, LeansetWarning
from leanset._version import __version__
from leanset.cli import show
from leanset.cli.wording import in_options

Parameters = ParamSpec("Parameters")
UNEXPECTED = 4
_PACKAGE = str(Path(__file__).parents[1])


def guarded(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn every failure of a command into one line on standard error and an exit code."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", LeansetWarning)
                warnings.showwarning = _show_warning
                command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise  # how commands end on purpose
        except (Exception, KeyboardInterrupt) as error:
            raise typer.Exit(ended_in_words(error)) from None

    return run


def ended_in_words(error: BaseException) -> int:
    """Print one line on standard error about a failure, foreseen or not, and return the exit code."""
    message, code = _told(error)
    show.complain(in_options(message), "red bold")
    return code


def _told(error: BaseException) -> tuple[str, int]:
    """Return what to say of an error, and the exit code."""
    match error:
        case InputError():
            return str(error), 2
        case LeansetError():
            return str(error), 3
        case OSError():
            return f"{error.filename or 'input or output'}: {error.strerror or error}.", 3
        case MemoryError():
            return "out of memory; --dry-run shows what a run needs, and a smaller --memory reduces it.", 3
        case KeyboardInterrupt():
            place = f"--out {error}" if str(error) else "the same --out"
            return f"interrupted. Finished work is saved: run the same command again, with {place}, to resume.", 130
    return _unexpected(error), UNEXPECTED


def _unexpected(error: BaseException) -> str:
    """Return what to say of an error that nobody foresaw: what it is, where in leanset it was, and what to do."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(_PACKAGE) and frame.filename != __file__]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(own[-6:]))
    return (
        f"unexpected error: {type(error).__name__}: {error} (leanset {__version__}, {places}). This is a bug in leanset: "
        "please report it with this line and the command."
    )


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **_: Any) -> None:
    if issubclass(category, LeansetWarning):
        show.complain(in_options(str(message)), "yellow bold")
