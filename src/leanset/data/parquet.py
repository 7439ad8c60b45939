import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from leanset._arrays import AnyArray
from leanset._errors import InputError
from leanset._files import open_regular
from leanset._memory import free_memory
from leanset.data.columns import Columns, chosen_columns, is_list, is_number
from leanset.data.examples import Examples
from leanset.data.images import Images
from leanset.data.limits import refuse_beyond_memory
from leanset.data.reading import Reading, files_of
from leanset.data.table import class_names, joined, numbers_in, source_from
from leanset.rows import ParquetRows, parquet_rows

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_AT_ONCE = 1024  # rows
_SHRINK = 8  # times smaller than in memory, at most, are files of features whose rows stay there


def read_parquet(path: str, reading: Reading) -> Images | Examples:
    """Read a Parquet file, or a folder of them in sorted order: images or features, with labels.

    Row numbers continue from one file to the next.
    """
    return read_files(*files_of(path, (".parquet",)), path, reading)


def read_files(train: list[str], held_out: list[str], path: str, reading: Reading) -> Images | Examples:
    """Read Parquet files with the training rows and with the held-out rows, in the given order."""
    schema = _schema(train[0])
    columns = chosen_columns(schema, path, reading)
    streamed = [None if not files else _streamed(files, columns, schema, reading) for files in (train, held_out)]
    tables = []
    for files, rows in zip((train, held_out), streamed, strict=True):
        wanted = columns if rows is None else replace(columns, features=())
        tables.append(_table(files, wanted, path) if files else None)
    names = class_names(schema, columns.label)
    assert tables[0] is not None  # there are training rows
    return source_from(tables[0], tables[1], columns, names, path, reading, streamed)


def _streamed(files: list[str], columns: Columns, schema: "pa.Schema", reading: Reading) -> ParquetRows | None:
    """Return the features as rows that stay in their files, if they are numbers and too many for the memory."""
    kinds = [schema.field(name).type for name in columns.features]
    lists = len(kinds) == 1 and is_list(kinds[0])
    if columns.image is not None or not kinds or not (lists or all(is_number(kind) for kind in kinds)):
        return None
    # Numbers shrink little in a file: what is far from the limit there is so in memory, and its groups need not be asked.
    if sum(map(os.path.getsize, files)) <= reading.features_memory // _SHRINK:
        return None
    sizes = [(file, _group_sizes(file)) for file in files]
    first = next((file, number) for file, each in sizes for number, size in enumerate(each) if size)
    sample = read_group(*first, columns.features)
    if sample.itemsize * sample.shape[1] * sum(sum(each) for _, each in sizes) <= reading.features_memory:
        return None
    return parquet_rows(sizes, columns.features, read_group, width=sample.shape[1], dtype=sample.dtype)


def _group_sizes(file: str) -> list[int]:
    import pyarrow.parquet as pq

    with _damage_named(file), open_regular(file) as opened, pq.ParquetFile(opened) as content:
        return [content.metadata.row_group(nth).num_rows for nth in range(content.num_row_groups)]


def read_group(file: str, number: int, names: tuple[str, ...]) -> AnyArray:
    """Return the features in one row group of a file, as an array."""
    import pyarrow.parquet as pq

    with _damage_named(file), open_regular(file) as opened, pq.ParquetFile(opened) as content:
        rows = content.metadata.row_group(number).num_rows
        refuse_beyond_memory(rows * len(names), file, f"row group {number} takes at least")
        table = content.read_row_group(number, columns=list(names))
        table.validate(full=True)
    return numbers_in(table, names, f"{file}, row group {number}")


def _schema(file: str) -> "pa.Schema":
    import pyarrow.parquet as pq

    with _damage_named(file), open_regular(file) as content:
        return pq.read_schema(content)


def _table(files: list[str], columns: Columns, where: str) -> "pa.Table":
    import pyarrow.parquet as pq

    batches, size, free = [], 0, free_memory()
    for file in files:
        missing = set(columns.names) - set(_schema(file).names)
        if missing:
            raise InputError(f"{file}: no column {', '.join(sorted(missing))}, which the other files of {where} have.")
        # In batches: a few bytes of run-length coding can expand to any number of rows, and no header says how many.
        with _damage_named(file), open_regular(file) as opened, pq.ParquetFile(opened) as content:
            _refuse_claims(content, columns, file)
            for batch in content.iter_batches(_AT_ONCE, columns=columns.names):
                batch.validate(full=True)  # for example, that text is valid UTF-8
                batches.append(batch)
                size += batch.nbytes
                if free is not None and size > free:
                    raise InputError(
                        f"{file}: unpacks to more than the {free / 2**20:,.0f} MiB of memory that are free."
                    )
    return joined(batches, where)


def _refuse_claims(content: "pq.ParquetFile", columns: Columns, file: str) -> None:
    """Raise if the rows that the file says it has would not fit, before a few bytes of run lengths become so many.

    The metadata of its columns would say more; but where they are damaged, Arrow ends the process when it is asked.
    """
    values = content.metadata.num_rows * len(columns.names)
    refuse_beyond_memory(values, file, "has values that take at least")  # a byte each, at the very least


@contextlib.contextmanager
def _damage_named(file: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        raise InputError(f"{file}: cannot be read as a Parquet file: {error}.") from None
