import functools
from collections.abc import Callable
from typing import ParamSpec

import typer

from leanset._errors import InputError, LeansetError
from leanset.cli import show

Parameters = ParamSpec("Parameters")


def guarded(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn every expected failure of a command into one line on standard error and an exit code."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except InputError as error:
            _fail(str(error), 2)
        except LeansetError as error:
            _fail(str(error), 3)
        except OSError as error:
            _fail(f"{error.filename or 'input or output'}: {error.strerror or error}.", 3)
        except MemoryError:
            _fail("out of memory; `--dry-run` shows what a run needs, and --memory lowers it.", 3)
        except KeyboardInterrupt:
            _fail("interrupted. With --out, finished work is kept there: run the same command again to resume.", 130)

    return run


def _fail(message: str, code: int) -> None:
    show.ERR.print("[red bold]leanset:[/red bold]", end=" ")
    show.ERR.print(message, soft_wrap=True, markup=False)
    raise typer.Exit(code)
