import functools
import re
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec

import typer

from leanset._errors import InputError, LeansetError, LeansetWarning
from leanset._options import options_of
from leanset.cli import show
from leanset.settings import Settings

Parameters = ParamSpec("Parameters")
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
    """Turn every expected failure of a command into one line on standard error and an exit code."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", LeansetWarning)
                warnings.showwarning = _show_warning
                command(*args, **kwargs)
        except InputError as error:
            _fail(str(error), 2)
        except LeansetError as error:
            _fail(str(error), 3)
        except OSError as error:
            _fail(f"{error.filename or 'input or output'}: {error.strerror or error}.", 3)
        except MemoryError:
            _fail("out of memory; --dry-run shows what a run needs, and a smaller --memory reduces it.", 3)
        except KeyboardInterrupt as error:
            place = f"--out {error}" if str(error) else "the same --out"
            _fail(f"interrupted. Finished work is saved: run the same command again, with {place}, to resume.", 130)

    return run


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
        show.warn(in_options(str(message)))


def _fail(message: str, code: int) -> None:
    show.ERR.print("[red bold]leanset:[/red bold]", end=" ")
    show.ERR.print(in_options(message), soft_wrap=True, markup=False)
    raise typer.Exit(code)
