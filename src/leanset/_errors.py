import warnings


class LeansetError(Exception):
    """Base of every error that leanset raises on purpose."""


class InputError(LeansetError, ValueError):
    """leanset cannot work with an argument or a data file."""


class RunFolderError(LeansetError, OSError):
    """A run folder cannot be read or written, or contains something else."""


class DivergenceError(LeansetError, ArithmeticError):
    """A computation failed numerically; the message says which setting to change."""


class ClusterError(LeansetError, ConnectionError):
    """A cluster cannot be reached, or was lost; the message says how to go on."""


class MissingExtraError(LeansetError, ImportError):
    """A feature needs an optional dependency; the message names the extra to install."""


def missing_extra(feature: str, extra: str) -> MissingExtraError:
    """Return the error for a feature whose optional dependency is missing."""
    return MissingExtraError(f'{feature} needs the `{extra}` extra: pip install "leanset[{extra}]"')


class LeansetWarning(UserWarning):
    """Something the user should know that does not stop the run."""


def warn(message: str) -> None:
    """Warn the user."""
    warnings.warn(message, LeansetWarning, stacklevel=2)
