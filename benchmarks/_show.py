"""Tables on the terminal and in Markdown."""

from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks._record import Claim, Findings, Row


def show(name: str, findings: Findings, seconds: float) -> None:
    """Print a benchmark's rows, one table a part, and its claims."""
    console = Console()
    if not console.is_terminal:
        console.width = 160
    parts = dict.fromkeys(row.get("part", name) for row in findings.rows)
    for part in parts:
        rows = [row for row in findings.rows if row.get("part", name) == part]
        console.print(_table(part, rows))
    if findings.claims:
        console.print(_claims(findings.claims))
    console.print(f"{name}: {seconds:.1f} s\n")


def markdown(rows: list[Row]) -> str:
    """Return rows as a Markdown table."""
    columns = _columns(rows)
    lines = [columns, ["---"] * len(columns), *([_text(row.get(column)) for column in columns] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _table(title: str, rows: list[Row]) -> Table:
    table = Table(title=title, title_justify="left")
    columns = _columns(rows)
    for column in columns:
        words = isinstance(rows[0].get(column), str)
        table.add_column(column.replace("_", "\n"), justify="left" if words else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(_text(row.get(column)) for column in columns))
    return table


def _claims(claims: list[Claim]) -> Table:
    table = Table(title="claims", title_justify="left")
    for heading in ("claim", "target", "measured", ""):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    for claim in claims:
        verdict = "[green]holds[/green]" if claim.holds else "[red]fails[/red]"
        table.add_row(claim.text, claim.target, _text(claim.measured), verdict)
    return table


def _columns(rows: list[Row]) -> list[str]:
    keys = dict.fromkeys(key for row in rows for key, value in row.items() if not isinstance(value, list))
    return [key for key in keys if key != "part"]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
