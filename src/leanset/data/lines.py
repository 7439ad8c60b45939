"""Tables as text: CSV, with a line of names first, and JSON, with an object on each line."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from leanset._errors import InputError
from leanset._files import open_regular
from leanset.data.columns import chosen_columns
from leanset.data.examples import Examples
from leanset.data.images import Images
from leanset.data.limits import refuse_beyond_memory
from leanset.data.reading import Reading, files_of
from leanset.data.table import joined, source_from

if TYPE_CHECKING:
    import pyarrow as pa

CSV_ENDINGS, JSON_ENDINGS = (".csv", ".tsv"), (".jsonl", ".ndjson")
_DELIMITERS = (",", ";", "\t", "|")
_BETWEEN_VALUES = (b",", b";", b"\t", b"|", b":", b"\n")
_NO_OBJECT = re.compile(rb"^[ \t\r]*([^ \t\r\n{])", re.MULTILINE)
_BLOCK = 2**24  # bytes that are read at one time; a row must fit


def read_csv(path: str, reading: Reading) -> Images | Examples:
    """Read a CSV file, or a folder of them in sorted order. The first line names the columns.

    Columns are separated by what the first line has most of: comma, semicolon, tab or |.
    """
    return _read(path, CSV_ENDINGS, _csv_table, reading)


def read_jsonl(path: str, reading: Reading) -> Images | Examples:
    """Read a file with one JSON object on each line, or a folder of them in sorted order."""
    return _read(path, JSON_ENDINGS, _json_table, reading)


def _read(
    path: str, endings: tuple[str, ...], read: "Callable[[str], pa.Table]", reading: Reading
) -> Images | Examples:
    train, held_out = files_of(path, endings)
    tables = [_together(files, read, path) if files else None for files in (train, held_out)]
    assert tables[0] is not None  # there is at least one file
    columns = chosen_columns(tables[0].schema, path, reading)
    for table in tables[1:]:
        missing = [] if table is None else [name for name in columns.names if name not in table.column_names]
        if missing:
            raise InputError(f"{path}: the held-out rows have no column {', '.join(missing)}.")
    return source_from(tables[0], tables[1], columns, None, path, reading)


def _together(files: list[str], read: "Callable[[str], pa.Table]", path: str) -> "pa.Table":
    batches: list[Any] = []
    for file in files:
        refuse_beyond_memory(_size_as_table(file), file, "as a table it takes")
        with _damage_named(file):
            batches += read(file).to_batches()
    return joined(batches, path)


def _size_as_table(file: str) -> int:
    """Return how many bytes the values of a text file take at most: eight each, or as many as they are long."""
    values, size = 0, 0
    with open_regular(file) as content:
        while block := content.read(_BLOCK):
            values += sum(block.count(mark) for mark in _BETWEEN_VALUES)
            size += len(block)
    return 8 * (values + 1) + size


def _csv_table(file: str) -> "pa.Table":
    from pyarrow import csv

    with open(file, encoding="utf-8-sig", newline="") as lines:
        first = lines.readline().rstrip("\r\n")
    separator = max(_DELIMITERS, key=first.count)
    names = [name.strip().strip('"') for name in first.split(separator)]
    if all(map(_is_number, names)):
        raise InputError(f"{file}: the first line must name the columns; it is {first[:60]!r}.")
    return csv.read_csv(
        file,
        read_options=csv.ReadOptions(block_size=_BLOCK),
        parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
    )


def _json_table(file: str) -> "pa.Table":
    from pyarrow import json

    _refuse_other_than_objects(file)
    return json.read_json(file, read_options=json.ReadOptions(block_size=_BLOCK))


def _refuse_other_than_objects(file: str) -> None:
    """Raise if a line is anything else than an object. Arrow ends the whole process if a block begins with null."""
    lines_before = 0
    with open_regular(file) as content:
        while block := content.read(_BLOCK) + content.readline(_BLOCK):
            if found := _NO_OBJECT.search(block):
                line = lines_before + block.count(b"\n", 0, found.start(1)) + 1
                raise InputError(f"{file}: line {line:,} must be a JSON object, as in {{...}}.")
            lines_before += block.count(b"\n")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextlib.contextmanager
def _damage_named(file: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{file}: cannot be read: {reason}.") from None
