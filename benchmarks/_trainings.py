"""Trainings that a benchmark does once, each a line of a file beside the record, so that an interrupted benchmark goes on."""

import json
from collections.abc import Callable
from pathlib import Path

from benchmarks._record import Row


def known_or(table: Path, which: Row, measured: Callable[[], Row]) -> Row:
    """Return the line that says what `which` says; if there is none, measure it and add it."""
    lines = table.read_text().splitlines() if table.is_file() else []
    known = [line for line in map(json.loads, lines) if which.items() <= line.items()]
    if known:
        return known[-1]
    found = which | measured()
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("a") as file:
        file.write(json.dumps(found) + "\n")
    return found
