import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from leanset._folder import Folder


def write_rows(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as name.csv and name.parquet, with a column for every key that occurs in any row."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files = Folder(folder)
    files.write_text(f"{name}.csv", text.getvalue())
    files.write_table(f"{name}.parquet", {key: [row.get(key) for row in rows] for key in columns})


def as_dicts(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return dataclass rows as dicts, for `write_rows`."""
    return [asdict(row) for row in rows]
