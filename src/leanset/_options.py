"""An option is one line: a field of a settings class, annotated with its help, its panel and its rule.

That line defines the argument of the Python function and its documentation, the command-line option with its help and
checks, the entry in `settings.json` and the row on the API page.
"""

import functools
import inspect
import textwrap
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, dataclass, fields, replace
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar, get_args, get_type_hints

from leanset._errors import InputError
from leanset._rules import Rule

Given = ParamSpec("Given")
Settings = TypeVar("Settings")
Settings_contra = TypeVar("Settings_contra", contravariant=True)
Data = TypeVar("Data", contravariant=True)
Labels = TypeVar("Labels", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)
Answer = TypeVar("Answer")
_known: "dict[type[Any], dict[str, Option]]" = {}
_hinted: dict[type[Any], dict[str, Any]] = {}


@dataclass(frozen=True)
class Option:
    """The properties of an option besides its name, type and default.

    Attributes
    ----------
    help : one sentence, for both the documentation and the command line
    panel : heading it is listed under; its class's panel if empty
    rule : checks a value; None is always valid if it is the default, and means "not given"
    read : converts the command line's text to a value; None converts by the type
    shown : the default as people write it, where that differs from the value
    on_command_line : False for options that only Python can pass
    decides : whether the answer depends on it, which makes it part of a run's identity; its class's value if None
    """

    help: str
    panel: str = ""
    rule: Rule | None = None
    read: Callable[[str], Any] | None = None
    shown: str | None = None
    on_command_line: bool = True
    decides: bool | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Checked:
    """Base of settings classes: every field's rule is checked when an instance is created."""

    panel: ClassVar[str] = ""
    decides: ClassVar[bool] = True

    def __post_init__(self) -> None:
        options = options_of(type(self))
        for item in fields(self):
            value, rule = getattr(self, item.name), options[item.name].rule
            not_given = value is None and item.default is None
            must = None if not_given or rule is None else rule(value)
            if must:
                raise InputError(f"`{item.name}={value!r}` must {must}.")

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        return {item.name: value for item in fields(self) if (value := getattr(self, item.name)) is not item.default}

    def refuse(self, names: Iterable[str], what: str) -> None:
        """Raise if one of some options was given that does not apply to something."""
        given = self.given()
        for name in names:
            if name in given:
                raise InputError(f"`{name}={given[name]!r}` does not apply to {what}.")


def options_of(kind: type[Any]) -> dict[str, Option]:
    """Return the options of a settings class by name, in order of definition."""
    if kind not in _known:
        _known[kind] = _options_of(kind)
    return _known[kind]


def _options_of(kind: type[Any]) -> dict[str, Option]:
    hints = _hints(kind)
    return {item.name: _option(hints[item.name], _home(kind, item.name)) for item in fields(kind)}


def _hints(kind: type[Any]) -> dict[str, Any]:
    if kind not in _hinted:
        _hinted[kind] = get_type_hints(kind, include_extras=True)
    return _hinted[kind]


def _option(hint: Any, home: type[Checked]) -> Option:
    option = next(extra for extra in get_args(hint)[1:] if isinstance(extra, Option))
    decides = home.decides if option.decides is None else option.decides
    return replace(option, panel=option.panel or home.panel, decides=decides)


def _home(kind: type[Any], name: str) -> type[Checked]:
    """Return the base class that defines an option."""
    return next(base for base in kind.__mro__ if name in inspect.get_annotations(base))


def value_type(kind: type[Any], name: str) -> Any:
    """Return the type of an option, without the `Option` annotation and without None."""
    hint = get_args(_hints(kind)[name])[0]
    parts = [part for part in get_args(hint) if part is not type(None)]
    return parts[0] if len(parts) == 1 else (hint if not parts else typing.Union[tuple(parts)])  # noqa: UP007


def default_of(item: "Field[Any]") -> Any:
    """Return the default of a field of a settings class; every option has one."""
    return None if item.default is MISSING else item.default


class OnData(Protocol[Data, Labels, Settings_contra, Given, Answer_co]):
    """A function of data that takes each option as a keyword."""

    def __call__(
        self,
        features: Data,
        labels: Labels | None = None,
        settings: Settings_contra | None = None,
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Answer_co:
        """Call it with options, or with a settings object instead."""


def with_options(
    kind: Callable[Given, Settings],
) -> Callable[[Callable[[Data, Labels, Settings], Answer]], OnData[Data, Labels, Settings, Given, Answer]]:
    """Give a function of (features, labels, settings) the fields of a settings class as keyword arguments.

    Type checkers see the keywords through the parameters of `kind`; editors and `help()` see them in the signature. The
    line `{options}` in the docstring is replaced by their documentation.
    """
    known = typing.cast(type[Any], kind)

    def decorate(
        function: Callable[[Data, Labels, Settings], Answer],
    ) -> OnData[Data, Labels, Settings, Given, Answer]:
        @functools.wraps(function)
        def call(features: Any, labels: Any = None, settings: Any = None, **options: Any) -> Answer:
            return function(features, labels, settings_from(known, settings, options))

        call.__signature__ = _signature(function, known)  # type: ignore[attr-defined]
        call.__doc__ = (function.__doc__ or "").replace(
            "    {options}\n", textwrap.indent(documentation(known), "    ")
        )
        return typing.cast(OnData[Data, Labels, Settings, Given, Answer], call)

    return decorate


def settings_from(kind: type[Any], settings: Any, options: dict[str, Any]) -> Any:
    """Return the given settings object, or a new one built from options."""
    unknown = [name for name in options if name not in options_of(kind)]
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}; the options are {', '.join(options_of(kind))}.")
    if settings is None:
        return kind(**options)
    if not isinstance(settings, kind):
        raise InputError(f"`settings={settings!r}` must be a `leanset.{kind.__name__}(...)`, or None.")
    if options:
        raise InputError(f"give options or `settings`, not both; got `settings` and `{next(iter(options))}`.")
    return settings


def _signature(function: Callable[..., Any], kind: type[Any]) -> inspect.Signature:
    hints = get_type_hints(kind)
    own = list(inspect.signature(function).parameters.values())
    data = [own[0], own[1].replace(default=None), own[2].replace(default=None)]
    keywords = [
        inspect.Parameter(
            item.name, inspect.Parameter.KEYWORD_ONLY, default=default_of(item), annotation=_readable(hints[item.name])
        )
        for item in fields(kind)
    ]
    returns = inspect.signature(function).return_annotation
    return inspect.Signature([*data, *keywords], return_annotation=returns)


def _readable(hint: Any) -> Any:
    """Return a type as `help()` should show it: NumPy's `ArrayLike` is a page long when written out."""
    if "_SupportsArray" not in str(hint):
        return hint
    return "tuple[ArrayLike, ...] | None" if "tuple[" in str(hint)[:20] else "ArrayLike | None"


def documentation(kind: type[Any]) -> str:
    """Return the options as lines of a numpydoc section."""
    lines = []
    for item in fields(kind):
        text = f"{item.name} : {options_of(kind)[item.name].help}"
        lines += textwrap.wrap(text, 116, subsequent_indent="    ", break_long_words=False)
    return "\n".join(lines) + "\n"


def table_rows(kind: type[Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield panel, name, default and help of each option, for the API page."""
    for item in fields(kind):
        option = options_of(kind)[item.name]
        yield option.panel, item.name, option.shown or repr(default_of(item)), option.help
