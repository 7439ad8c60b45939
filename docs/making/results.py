"""Pages of results: the records of the benchmarks as tables, and the paper's experiments as they were written."""

import json
from pathlib import Path
from typing import Any

from benchmarks._show import markdown

ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = {
    "heart": "The head and the search",
    "images": "Images and scores",
}  # of results/, with records of benchmarks
_SHOWN = (".csv", ".json", ".md", ".png", ".svg")
_INTRODUCTION = """# Results

Every number in these pages comes from a command in the repository, and has a record of the machine and the versions beside it.

| what | command |
|---|---|
"""


def files() -> list[str]:
    """Return the files of results that the site shows or offers, by their path in the repository."""
    found = sorted(path for path in (ROOT / "results").rglob("*") if path.suffix in _SHOWN and path.name != "paper.md")
    return [path.relative_to(ROOT).as_posix() for path in found]


def page_of(folder: str) -> str:
    """Return the page about a folder of results."""
    folder = folder.rstrip("/")
    if (ROOT / folder / "README.md").is_file():
        return f"{folder}/README.md"
    return f"{folder}/index.md" if folder.removeprefix("results/") in _FOLDERS else "results/index.md"


def pages() -> dict[str, str]:
    """Return the pages that are made: a list of all, and one for each folder of benchmarks."""
    made = {f"results/{name}/index.md": _folder_page(name, title) for name, title in _FOLDERS.items()}
    return made | {"results/index.md": _INTRODUCTION + "".join(_lines())}


def _lines() -> list[str]:
    benchmarks = [(name, record) for name in _FOLDERS for record in _records(name)]
    measured = [
        f"| [{record['benchmark']}]({name}/index.md#{record['benchmark']}): {_sentence(record)} | `{_command(record)}` |\n"
        for name, record in benchmarks
    ]
    written = [path.parent.relative_to(ROOT / "results") for path in sorted((ROOT / "results").rglob("README.md"))]
    return measured + [f"| [{path}]({path}/README.md) | {_paper_command(path)} |\n" for path in written]


def _folder_page(folder: str, title: str) -> str:
    return f"# {title}\n\n" + "\n".join(_section(record) for record in _records(folder))


def _section(record: dict[str, Any]) -> str:
    name, machine = record["benchmark"], record["machine"]
    first, _, rest = record["protocol"].partition("\n\n")
    where = f"{machine['cores']} cores of {machine['cpu']}, Python {machine['python']}, NumPy {machine['numpy']}"
    how = f"`{_command(record)}`: {record['seconds']:.0f} s, {where}. [The record]({name}.json)."
    lines = [f"## {name}\n", first, "", rest, "", f"{how}\n"]
    if record["claims"]:
        lines += ["**Claims**\n", markdown([_claim(claim) for claim in record["claims"]])]
    parts = dict.fromkeys(row.get("part", "Measured") for row in record["rows"])
    for part in parts:
        rows = [row for row in record["rows"] if row.get("part", "Measured") == part]
        lines += [f"**{part}**\n", markdown(rows)]
    return "\n".join(lines)


def _claim(claim: dict[str, Any]) -> dict[str, Any]:
    return {**claim, "holds": "yes" if claim["holds"] else "no"}


def _records(folder: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((ROOT / "results" / folder).glob("*.json"))]


def _command(record: dict[str, Any]) -> str:
    return str(record["command"]).removeprefix(".venv/bin/")


def _sentence(record: dict[str, Any]) -> str:
    return str(record["protocol"]).partition("\n")[0].replace("|", "\\|")


def _paper_command(path: Path) -> str:
    return f"`leanset paper {path.name}`" if path.parts[0] == "paper" else "`leanset compare`"
