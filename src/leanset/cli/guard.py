import functools
import re
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec

import typer

from leanset._errors import InputError, LeansetError, LeansetWarning
from leanset._options import options_of
from leanset._version import __version__
from leanset.cli import show
from leanset.settings import Settings

Parameters = ParamSpec("Parameters")
UNEXPECTED = 4
_PACKAGE = str(Path(__file__).parents[1])
_OTHER_NAMES = {
    "on_bad": "on_bad_image",
    "max_bytes": "max_size",
    "source": "from",
}  # arguments of inner functions, and their options
_OWN_OPTIONS = (  # of commands other than `prune`
    *(
        "from",
        "fractions",
        "held_out_share",
        "key",
        "max_size",
        "methods",
        "protocols",
        "scale",
        "seeds",
        "train_models",
        "workers",
    ),
)
_ARGUMENT = re.compile(r"`(\w+)(?:=('[^'`]*'|[^`]*))?`")


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


def in_options(message: str) -> str:
    """Translate the Python arguments in a message into command-line options.

    Examples
    --------
    >>> in_options("`fraction=1.5` must lie in (0, 1); `seed` is fine, `frontier=False` too.")
    '--fraction 1.5 must lie in (0, 1); --seed is fine, --no-frontier too.'
    >>> in_options("`fractions=(0.2, 1.2)` must be numbers in (0, 1).")
    '--fractions 0.2,1.2 must be numbers in (0, 1).'
    """
    return _ARGUMENT.sub(_translated, message)


def _translated(match: "re.Match[str]") -> str:
    name, value = _OTHER_NAMES.get(match[1], match[1]), match[2]
    option = options_of(Settings).get(name)
    if name not in _OWN_OPTIONS and (option is None or not option.on_command_line):
        return match[0]
    flag = name.replace("_", "-")
    if value in ("True", "False"):
        return f"--{flag}" if value == "True" else f"--no-{flag}"
    return f"--{flag}" if value is None else f"--{flag} {_as_typed(value)}"


def _as_typed(value: str) -> str:
    """Return a value as it is written on the command line: names without quotes, lists with commas."""
    return re.sub(r"[()' ]", "", value).rstrip(",") if value.startswith("(") else value.strip("'")


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **_: Any) -> None:
    if issubclass(category, LeansetWarning):
        show.complain(in_options(str(message)), "yellow bold")
