"""The gallery: a page for each script in examples/, from its docstring, its picture and its code."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IN_ORDER = (  # one idea each; any other script comes after these
    *("quickstart", "tabular_sample_weight", "images", "text", "own_network", "noisy_labels", "regression"),
    "choose_by_cost",
)
_INTRODUCTION = """# Gallery

Each script shows one idea and runs in seconds. `python examples/regression.py picture.png` also draws its picture.

"""


def pages() -> dict[str, str]:
    """Return the page of each example, and the list of all."""
    found = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}
    names = [*IN_ORDER, *(name for name in found if name not in IN_ORDER)]
    made = {f"gallery/{name}.md": _page(name, found[name].read_text()) for name in names}
    return made | {
        "gallery/index.md": _INTRODUCTION + "\n".join(_entry(name, found[name].read_text()) for name in names)
    }


def _entry(name: str, code: str) -> str:
    first, _ = _words(code)
    return f"## [{_title(name)}]({name}.md)\n\n{first}\n\n{_picture(name)}"


def _page(name: str, code: str) -> str:
    first, rest = _words(code)
    body = code.split('"""', 2)[2].strip()
    return (
        f"# {_title(name)}\n\n{first}\n\n{rest}\n\n{_picture(name)}\n`examples/{name}.py`\n\n```python\n{body}\n```\n"
    )


def _words(code: str) -> tuple[str, str]:
    """Return the first sentence of a script's docstring, and the rest."""
    first, _, rest = (ast.get_docstring(ast.parse(code)) or "").partition("\n\n")
    return first.replace("\n", " "), rest


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _picture(name: str) -> str:
    there = (ROOT / "docs" / "images" / "gallery" / f"{name}.png").is_file()
    return f"![{_title(name)}](../images/gallery/{name}.png)\n" if there else ""
