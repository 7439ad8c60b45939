import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from leanset._errors import InputError
from leanset._files import open_regular
from leanset._memory import free_memory
from leanset.data.columns import Columns, chosen_columns
from leanset.data.examples import Examples
from leanset.data.images import Images
from leanset.data.limits import refuse_beyond_memory
from leanset.data.reading import Reading, files_of
from leanset.data.table import class_names, joined, source_from

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_AT_ONCE = 1024  # rows


def read_parquet(path: str, reading: Reading) -> Images | Examples:
    """Read a Parquet file, or a folder of them in sorted order: images or features, with labels.

    Row numbers continue from one file to the next.
    """
    train, held_out = files_of(path, (".parquet",))
    schema = _schema(train[0])
    columns = chosen_columns(schema, path, reading)
    held_out_table = _table(held_out, columns, path) if held_out else None
    names = class_names(schema, columns.label)
    return source_from(_table(train, columns, path), held_out_table, columns, names, path, reading)


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
