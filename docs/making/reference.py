"""The reference: every public name with its signature and its docstring, whose examples are run by the tests."""

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

# What is described of each module. Rooms also export what other rooms need, which is no user's business.
NAMES: dict[str, tuple[str, ...] | None] = {
    "leanset": None,  # None: all
    "leanset.sklearn": None,
    "leanset.torch": None,
    "leanset.scores": (
        *("Evidence", "method_named", "Random", "StratifiedRandom", "Herding", "Forgetting", "GraNd", "LastLayerGraNd"),
        *("EL2N", "InfluenceScore", "AUM", "Moderate", "KCenterGreedy", "CCS", "DynUnc", "DUAL", "D2"),
    ),
    "leanset.data": ("open_source", "Images", "Dynamics", "read_labels"),
}
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", flags=re.MULTILINE)
_LISTED = ("Parameters", "Attributes", "Returns", "Raises", "Yields")
_WITH_METHODS = (  # classes whose methods users call; those of others are called by leanset
    *("PruneResult", "Certificate", "CompareResult", "Estimate", "InfluencePruner", "PrunedEstimator"),
    *("HeadStatistics", "Images"),
)
_LONGEST_SIGNATURE = 400  # beyond, options are left to the list below it


def pages() -> dict[str, str]:
    """Return a page for each module."""
    return {f"reference/{module}.md": page_of(module) for module in NAMES}


def names_in(module: str) -> list[str]:
    """Return the names that a module's page describes."""
    chosen = NAMES[module] or importlib.import_module(module).__all__
    return [name for name in chosen if not name.startswith("__")]


def page_of(module: str) -> str:
    """Return the page of a module."""
    room = importlib.import_module(module)
    about = inspect.cleandoc(room.__doc__ or "").partition("\n\n")[0]
    names = sorted(names_in(module), key=lambda name: _rank(getattr(room, name)))
    parts = [_entry(name, getattr(room, name), "##") for name in names]
    return f"# {module}\n\n{about}\n\n" + "\n".join(parts)


def _rank(item: Any) -> int:
    """Functions come first, then classes, then tables of names, and errors last."""
    if not callable(item):
        return 2
    return 0 if not inspect.isclass(item) else 3 if issubclass(item, Exception) else 1


def _entry(name: str, item: Any, level: str) -> str:
    if not callable(item):
        return f"{level} {name}\n\n{', '.join(f'`{value}`' for value in item)}\n"
    lines = [f"{level} {name}", "", f"```text\n{_signature(name, item)}\n```", "", markdown(inspect.getdoc(item) or "")]
    if name in _WITH_METHODS:
        lines += [_entry(f"{name}.{method}", value, f"{level}#") for method, value in _methods(item)]
    return "\n".join(lines)


def _signature(name: str, item: Any) -> str:
    if inspect.isclass(item) and issubclass(item, Exception):
        return name
    try:
        signature = inspect.signature(item)
    except ValueError:  # e.g. an Enum
        return name
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    text = f"{name}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"
    if len(text) <= _LONGEST_SIGNATURE:
        return text
    first = [parameter for parameter in plain if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    return f"{name}{signature.replace(parameters=first, return_annotation=inspect.Signature.empty)}"[:-1] + ", *, ...)"


def _methods(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class that are described."""
    for name, value in inspect.getmembers(kind, inspect.isroutine):
        ours = (getattr(value, "__module__", None) or "").startswith("leanset")
        if not name.startswith("_") and ours and value.__doc__:
            yield name, value


def markdown(docstring: str) -> str:
    r"""Return a docstring in Markdown.

    Examples
    --------
    >>> print(markdown("Add.\n\nParameters\n----------\na : the first\nb : the\n    second"))
    Add.
    <BLANKLINE>
    **Parameters**
    <BLANKLINE>
    - `a`: the first
    - `b`: the second
    <BLANKLINE>
    """
    before, *rest = _SECTION.split(docstring)
    parts = [before.strip(), ""]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        parts += [f"**{title}**", "", _list(body) if title in _LISTED else _text(body), ""]
    return "\n".join(parts)


def _list(body: str) -> str:
    entries: list[list[str]] = []
    for line in body.strip("\n").splitlines():
        if line and not line[0].isspace():
            name, colon, text = line.partition(" : ")
            entries.append([f"- `{name}`: {text}" if colon else f"- {line}"])
        elif entries:
            entries[-1].append(line.strip())
    return "\n".join(" ".join(entry).rstrip() for entry in entries)


def _text(body: str) -> str:
    """Return text with its interactive examples fenced."""
    paragraphs = []
    for paragraph in body.strip("\n").split("\n\n"):
        paragraphs.append(f"```pycon\n{paragraph}\n```" if paragraph.lstrip().startswith(">>>") else paragraph)
    return "\n\n".join(paragraphs)
