"""Write the options of `leanset.prune` and `leanset.compare` into docs/api.md, from their settings: `make api`."""

import re
from pathlib import Path
from typing import Any

from leanset import CompareSettings, Settings
from leanset._options import table_rows
from leanset.cli.app import commands

PAGE = Path(__file__).with_name("api.md")
BLOCKS = {"options": (Settings, "prune"), "comparison": (CompareSettings, "compare")}  # between marks of these names
HEADER = "| option | command line | default | what it is |\n|---|---|---|---|"


def page_with_options(text: str) -> str:
    """Return the page with the tables between its two marks made anew."""
    for name, (kind, command) in BLOCKS.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = f"{before}{begin}\n\n{options_tables(kind, command)}\n{end}{after}"
    return text


def options_tables(kind: type[Any], command: str) -> str:
    """Return a table of options for each panel, in the order of the command line's help.

    Panels that other commands share with `prune` are shown there only.
    """
    elsewhere = set() if kind is Settings else {panel for panel, *_ in table_rows(Settings)}
    shown = {panel for panel, *_ in table_rows(kind)} - elsewhere
    flags = command_line_flags(command, shown)
    lines: dict[str, list[str]] = {panel: [] for panel, _ in flags.values()}
    for panel, name, default, what in table_rows(kind):
        if panel not in shown:
            continue
        flag = flags[name][1] if name in flags else "only in Python"
        what = re.sub(r"docs/(\w+\.md)", r"[\1](\1)", what.replace("|", "\\|"))
        lines.setdefault(panel, []).append(f"| `{name}` | {flag} | `{default}` | {what} |")
    return "\n".join(
        f"**{panel}**\n\n{HEADER}\n" + "".join(f"{row}\n" for row in rows) for panel, rows in lines.items()
    )


def command_line_flags(command: str, known: set[str]) -> dict[str, tuple[str, str]]:
    """Return the panel and the flags of each option of a command, for the panels that are known."""
    return {
        str(parameter.name): (panel, ", ".join(f"`{flag}`" for flag in (*parameter.opts, *parameter.secondary_opts)))
        for parameter in commands()[command].params
        if (panel := getattr(parameter, "rich_help_panel", None)) in known
    }


if __name__ == "__main__":
    PAGE.write_text(page_with_options(PAGE.read_text()))
