"""Messages are written for Python; on the command line they name options."""

import re

from leanset._options import options_of
from leanset.settings import Settings

_OTHER_NAMES = {
    "on_bad": "on_bad_image",
    "max_bytes": "max_size",
    "source": "from",
}  # arguments of inner functions, and their options
_OWN_OPTIONS = (  # of commands other than `prune`
    *("from", "fractions", "held_out_share", "key", "max_size", "methods"),
    *("protocols", "scale", "seeds", "train_models", "workers"),
)
_ARGUMENT = re.compile(r"`(\w+)(?:=('[^'`]*'|[^`]*))?`")


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
