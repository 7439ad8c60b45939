import warnings


class LeansetError(Exception):
    """Base of every error that leanset raises on purpose."""


class InputError(LeansetError, ValueError):
    """An argument or a data file is not what leanset can work with."""


class RunFolderError(LeansetError, OSError):
    """A run folder cannot be read or written, or holds something else."""


class DivergenceError(LeansetError, ArithmeticError):
    """An iteration left the finite numbers; the message says which setting to change."""


class MissingExtraError(LeansetError, ImportError):
    """A feature needs an optional dependency; the message names the extra to install."""


def missing_extra(feature: str, extra: str) -> MissingExtraError:
    """Build the error for a feature whose optional dependency is absent."""
    return MissingExtraError(f'{feature} needs the `{extra}` extra: pip install "leanset[{extra}]"')


class LeansetWarning(UserWarning):
    """Something that a user should know but that does not stop the work."""


def warn(message: str) -> None:
    """Warn the user."""
    warnings.warn(message, LeansetWarning, stacklevel=2)
