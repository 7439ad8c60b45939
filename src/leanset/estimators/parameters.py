"""The options of `leanset.prune` as parameters of a scikit-learn estimator: kept as given, checked when it is fitted."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from leanset._options import default_of, options_of
from leanset.settings import PruneOptions, WorkOptions

Estimator = TypeVar("Estimator")
# Rows and heads of one data set mean nothing in another fold, and weights are an argument of `fit`; the seed has
# scikit-learn's name.
_LEFT_OUT = ("head", "pinned", "sample_weight", "seed")
_OWN_DEFAULTS: dict[str, Any] = {"frontier": False, "progress": False}  # a sampler in a search is fitted often
OPTIONS = {
    item.name: _OWN_DEFAULTS.get(item.name, default_of(item))
    for kind in (PruneOptions, WorkOptions)
    for item in fields(kind)
    if item.name not in _LEFT_OUT
}
_HELP = {name: option.help for kind in (PruneOptions, WorkOptions) for name, option in options_of(kind).items()}


def with_prune_options(**own: Any) -> Callable[[type[Estimator]], type[Estimator]]:
    """Give an estimator class a constructor with the options of `leanset.prune` and parameters of its own.

    scikit-learn reads the names of parameters from the signature. The line `{options}` in the docstring is replaced by
    their documentation.
    """
    defaults = OPTIONS | own
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in defaults.items()
    ]
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)

    def __init__(self: Any, **given: Any) -> None:
        unknown = [name for name in given if name not in defaults]
        if unknown:
            raise TypeError(f"unexpected keyword argument {unknown[0]!r}; the options are {', '.join(defaults)}.")
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))

    __init__.__signature__ = inspect.Signature([first, *keywords])  # type: ignore[attr-defined]

    def decorate(kind: type[Estimator]) -> type[Estimator]:
        kind.__init__ = __init__  # type: ignore[method-assign]
        lines = [f"{name} : {_HELP[name]}" for name in OPTIONS]
        wrapped = ["\n".join(textwrap.wrap(line, 112, subsequent_indent="    ")) for line in lines]
        kind.__doc__ = (kind.__doc__ or "").replace(
            "    {options}\n", textwrap.indent("\n".join(wrapped), "    ") + "\n"
        )
        return kind

    return decorate
