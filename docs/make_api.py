"""Write the options of `leanset.prune` into docs/api.md, from the settings that define them: `make api`."""

import re
from pathlib import Path

import typer

from leanset import Settings
from leanset._options import table_rows
from leanset.cli.app import app

PAGE = Path(__file__).with_name("api.md")
BEGIN, END = "<!-- options: begin -->", "<!-- options: end -->"
HEADER = "| option | command line | default | what it is |\n|---|---|---|---|"


def page_with_options(text: str) -> str:
    """Return the page with the tables between its two marks made anew."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{options_tables()}\n{END}{after}"


def options_tables() -> str:
    """Return a table of options for each panel, in the order of the command line's help."""
    flags = command_line_flags()
    lines: dict[str, list[str]] = {panel: [] for panel, _ in flags.values()}
    for panel, name, default, what in table_rows(Settings):
        flag = flags[name][1] if name in flags else "only in Python"
        what = re.sub(r"docs/(\w+\.md)", r"[\1](\1)", what.replace("|", "\\|"))
        lines.setdefault(panel, []).append(f"| `{name}` | {flag} | `{default}` | {what} |")
    return "\n".join(
        f"**{panel}**\n\n{HEADER}\n" + "".join(f"{row}\n" for row in rows) for panel, rows in lines.items()
    )


def command_line_flags() -> dict[str, tuple[str, str]]:
    """Return the panel and the flags of each option that `leanset prune` has on the command line."""
    known = {panel for panel, *_ in table_rows(Settings)}
    return {
        str(parameter.name): (panel, ", ".join(f"`{flag}`" for flag in (*parameter.opts, *parameter.secondary_opts)))
        for parameter in typer.main.get_command(app).commands["prune"].params  # type: ignore[attr-defined]
        if (panel := getattr(parameter, "rich_help_panel", None)) in known
    }


if __name__ == "__main__":
    PAGE.write_text(page_with_options(PAGE.read_text()))
