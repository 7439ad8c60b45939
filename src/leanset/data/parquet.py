import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from leanset._errors import InputError
from leanset.data.examples import Examples
from leanset.data.images import Images
from leanset.data.limits import refuse_beyond_memory
from leanset.data.reading import HELD_OUT_NAMES, Reading
from leanset.data.table import Columns, chosen_columns, class_names, source_from

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 1024  # rows


def read_parquet(path: str, reading: Reading) -> Images | Examples:
    """Read a Parquet file, or a folder of them in sorted order: images or features, with labels.

    In a folder, files whose names start with `train` contain the training rows, and files that start with `validation`,
    `valid`, `val` or `test` (the first of these that exists) are held out. Without a `train` file, all rows are for
    training. Row numbers continue from one file to the next.
    """
    train, held_out = _splits(path)
    schema = _schema(train[0])
    columns = chosen_columns(schema, path, reading)
    held_out_table = _table(held_out, columns, path) if held_out else None
    names = class_names(schema, columns.label)
    return source_from(_table(train, columns, path), held_out_table, columns, names, path, reading)


def _splits(path: str) -> tuple[list[str], list[str]]:
    if not os.path.isdir(path):
        return [path], []
    files = sorted(name for name in os.listdir(path) if name.endswith(".parquet"))
    if not files:
        raise InputError(f"{path}: no .parquet file in this folder.")
    train = [name for name in files if name.startswith("train")]
    if not train:
        return [os.path.join(path, name) for name in files], []
    held_out = next((some for split in HELD_OUT_NAMES if (some := [n for n in files if n.startswith(split)])), [])
    return [os.path.join(path, name) for name in train], [os.path.join(path, name) for name in held_out]


def _schema(file: str) -> "pa.Schema":
    import pyarrow.parquet as pq

    with _damage_named(file):
        return pq.read_schema(file)


def _table(files: list[str], columns: Columns, where: str) -> "pa.Table":
    import pyarrow.parquet as pq

    batches, size = [], 0
    for file in files:
        missing = set(columns.names) - set(_schema(file).names)
        if missing:
            raise InputError(f"{file}: no column {', '.join(sorted(missing))}, which the other files of {where} have.")
        # In batches: a few bytes of run-length coding can expand to any number of rows, and no header says how many.
        with _damage_named(file), pq.ParquetFile(file) as content:
            for batch in content.iter_batches(_AT_ONCE, columns=columns.names):
                batch.validate(full=True)  # for example, that text is valid UTF-8
                batches.append(batch)
                size += batch.nbytes
                refuse_beyond_memory(size, file, "unpacks to at least")
    return _joined(batches, where)


@contextlib.contextmanager
def _damage_named(file: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read as a Parquet file: {error}.") from None


def _joined(batches: "list[pa.RecordBatch]", where: str) -> "pa.Table":
    import pyarrow as pa

    if not sum(batch.num_rows for batch in batches):
        raise InputError(f"{where}: contains no rows.")
    schema = batches[0].schema.remove_metadata()
    for batch in batches:
        if batch.schema.remove_metadata() != schema:
            raise InputError(f"{where}: the files have different column types.")
    return pa.Table.from_batches([batch.replace_schema_metadata(None) for batch in batches], schema)
