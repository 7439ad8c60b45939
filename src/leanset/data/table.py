"""Turn Arrow tables, from files of any format or Hugging Face datasets, into `Images` or `Examples`."""

import io
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Rows
from leanset._errors import InputError
from leanset.data.columns import Columns, is_list, is_number
from leanset.data.encoded import Encoded, Files, Labelled, images_from
from leanset.data.examples import Examples, checked_examples
from leanset.data.images import Images
from leanset.data.labels import coded_labels, codes_among, numbered_labels, refuse_empty_classes
from leanset.data.reading import Reading
from leanset.data.texts import embedded_texts
from leanset.rows import RowTable

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class EncodedColumn:
    """Images as a column of byte strings; a memory-mapped column stays on disk."""

    where: str
    column: "pa.ChunkedArray"
    names: list[str]

    root = ""  # bytes in a table are no files

    def __len__(self) -> int:
        return len(self.column)

    def name(self, row: int) -> str:
        """Return the table and the row."""
        return f"{self.where} row {row}"

    def stamp(self, row: int) -> str:
        """Return the row, the number of bytes and a checksum of the last 1024, where images differ most."""
        content = self.column[row].as_buffer()
        return f"{row}\0{content.size}\0{zlib.crc32(content[-1024:])}"

    def open(self, row: int) -> BinaryIO:
        """Return the bytes of one row as a file."""
        return io.BytesIO(self.column[row].as_py())


def source_from(
    train: "pa.Table",
    held_out: "pa.Table | None",
    columns: Columns,
    classes: tuple[str, ...] | None,
    where: str,
    reading: Reading,
    streamed: Sequence[RowTable | None] = (None, None),
) -> Images | Examples:
    """Build images or examples from the chosen columns.

    `classes` are the class names of integer labels, if known. `streamed` are features that are not in the tables, because
    they are too large: those of the training rows, and of the held-out rows.
    """
    if columns.image is None:
        return _examples(train, held_out, columns, classes, where, reading, streamed)
    images = _images(train, held_out, columns, columns.image, classes, where, reading)
    return replace(images, origin=replace(columns.origin(), root=images.origin.root))


def _images(
    train: "pa.Table",
    held_out: "pa.Table | None",
    columns: Columns,
    image: str,
    classes: tuple[str, ...] | None,
    where: str,
    reading: Reading,
) -> Images:
    labels = _labels(train, columns.label, where)
    codes, names = _codes(labels, classes, columns)
    split = Labelled(_encoded(train, columns, where, reading), codes)
    if held_out is None:
        return images_from(split, None, names, reading)
    held_labels = _labels(held_out, columns.label, f"held-out {where}")
    into = codes_among if classes is None else numbered_labels
    held_codes = into(names, held_labels, len(held_out), f"held-out {columns.label}", image)
    others = Labelled(_encoded(held_out, columns, f"held-out {where}", reading), held_codes)
    return images_from(split, others, names, reading)


def _examples(
    train: "pa.Table",
    held_out: "pa.Table | None",
    columns: Columns,
    classes: tuple[str, ...] | None,
    where: str,
    reading: Reading,
    streamed: Sequence[RowTable | None],
) -> Examples:
    features: Any
    others: Any
    features, others = streamed
    if features is None and others is None:
        features, others = _features(train, held_out, columns, where, reading)
    elif features is None:
        features = numbers_in(train, columns.features, where)
    elif others is None and held_out is not None:
        others = numbers_in(held_out, columns.features, f"held-out {where}")
    labels = _labels(train, columns.label, where, reading.targets)
    validation = None
    if held_out is not None:
        there = f"held-out {where}"
        validation = others, _labels(held_out, columns.label, there, reading.targets), _weight(held_out, columns, there)
    if reading.targets == "classes" and classes is not None:
        refuse_empty_classes(classes, numbered_labels(classes, labels, train.num_rows, "labels", "features"))
    weight = _weight(train, columns, where)
    examples = checked_examples(
        features, labels, validation, reading.targets, weight=weight, most=reading.features_memory
    )
    if reading.targets == "classes" and classes is not None:
        examples = examples.renamed(classes)
    return replace(
        examples,
        names=None if columns.id is None else _texts(train, columns.id, where),
        texts=None if columns.text is None else _texts(train, columns.text, where),
        origin=columns.origin(),
    )


def class_names(schema: "pa.Schema", label: str) -> tuple[str, ...] | None:
    """Return the class names that Hugging Face datasets store in a schema, or None."""
    try:
        note = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        names = note["info"]["features"][label]["names"]
    except (ValueError, KeyError, TypeError):
        return None
    return tuple(map(str, names)) if isinstance(names, list) and names else None


def _refuse_nulls(column: Any, name: str, where: str) -> None:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{where}: column `{name}` has {column.null_count:,} missing values, first at row {row}.")


def _labels(table: "pa.Table", name: str, where: str, targets: str = "classes") -> AnyArray:
    import pyarrow as pa

    column = table[name]
    _refuse_nulls(column, name, where)
    if targets != "classes" and is_list(column.type):
        return _from_lists(column, name, where)  # several labels or numbers per example
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        raise InputError(f"{where}: column `{name}` must contain integers or text; it is {column.type}.")
    values: AnyArray = column.to_numpy()
    return values


def _weight(table: "pa.Table", columns: Columns, where: str) -> AnyArray | None:
    if columns.weight is None:
        return None
    column = table[columns.weight]
    _refuse_nulls(column, columns.weight, where)
    if not is_number(column.type):
        raise InputError(f"{where}: column `{columns.weight}` must contain numbers, 0 or more; it is {column.type}.")
    values: AnyArray = column.to_numpy()
    return values


def _codes(labels: ArrayLike, classes: tuple[str, ...] | None, columns: Columns) -> tuple[Rows, tuple[str, ...]]:
    of = columns.image or "features"
    if classes is None:
        return coded_labels(labels, len(np.asarray(labels)), of)
    return numbered_labels(classes, labels, len(np.asarray(labels)), columns.label, of), classes


def _encoded(table: "pa.Table", columns: Columns, where: str, reading: Reading) -> Encoded:
    import pyarrow as pa
    import pyarrow.compute as pc

    name = columns.image
    assert name is not None  # the caller has images
    column, paths = table[name], None
    _refuse_nulls(column, name, where)
    if pa.types.is_struct(column.type):
        if column.type.get_field_index("path") >= 0:
            paths = pc.struct_field(column, "path")
        column = pc.struct_field(column, "bytes")
        if reading.may_open_files and paths is not None and column.null_count == len(column) and not paths.null_count:
            return Files("", paths.to_pylist())
        # Otherwise only the stored bytes are read: a path in a table from elsewhere could name any file.
        _refuse_nulls(column, f"{name}.bytes", where)
    names: list[str] = []
    if columns.id is not None:
        names = list(_texts(table, columns.id, where))
    elif paths is not None and not paths.null_count:
        names = paths.to_pylist()
    return EncodedColumn(where, column, names)


def _features(
    train: "pa.Table", held_out: "pa.Table | None", columns: Columns, where: str, reading: Reading
) -> tuple[Any, Any]:
    """Return the features of the training rows and of the held-out rows: arrays, or tables of plain columns."""
    others = f"held-out {where}"
    if not columns.features:
        assert columns.text is not None  # or there would be features
        more = None if held_out is None else _texts(held_out, columns.text, others)
        return embedded_texts(_texts(train, columns.text, where), more, reading.text_model)
    if len(columns.features) == 1 and is_list(train.schema.field(columns.features[0]).type):
        [name] = columns.features
        return _lists(train, name, where), None if held_out is None else _lists(held_out, name, others)
    chosen = list(columns.features)
    return train.select(chosen), None if held_out is None else held_out.select(chosen)


def _texts(table: "pa.Table", name: str, where: str) -> tuple[str, ...]:
    column = table[name]
    _refuse_nulls(column, name, where)
    return tuple(map(str, column.to_pylist()))


def _lists(table: "pa.Table", name: str, where: str) -> AnyArray:
    _refuse_nulls(table[name], name, where)
    return _from_lists(table[name], name, where)


def _from_lists(column: "pa.ChunkedArray", name: str, where: str) -> AnyArray:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).to_numpy()
    odd = np.flatnonzero(lengths != lengths[:1])
    if len(odd):
        raise InputError(
            f"{where}: lists in column `{name}` must have the same length; row 0 has {lengths[0]} numbers, "
            f"row {odd[0]} has {lengths[odd[0]]}."
        )
    flat = pc.list_flatten(column)
    if flat.null_count:
        row = int(np.argmax(flat.is_null().to_numpy())) // int(lengths[0])
        raise InputError(f"{where}: column `{name}` has a missing number in row {row}.")
    matrix: AnyArray = flat.to_numpy().reshape(len(column), int(lengths[0]) if len(lengths) else 0)
    return matrix


def numbers_in(table: "pa.Table", names: Sequence[str], where: str) -> AnyArray:
    """Return columns of numbers, or one column of lists of numbers, as an array."""
    if len(names) == 1 and is_list(table.schema.field(names[0]).type):
        return _lists(table, names[0], where)
    for name in names:
        _refuse_nulls(table[name], name, where)
    return np.column_stack([table[name].to_numpy() for name in names])


def joined(batches: "list[pa.RecordBatch]", where: str) -> "pa.Table":
    """Return the batches of several files as one table; they must have the same columns."""
    import pyarrow as pa

    if not sum(batch.num_rows for batch in batches):
        raise InputError(f"{where}: contains no rows.")
    schema = batches[0].schema.remove_metadata()
    for batch in batches:
        if batch.schema.remove_metadata() != schema:
            raise InputError(f"{where}: the files have different column types.")
    return pa.Table.from_batches([batch.replace_schema_metadata(None) for batch in batches], schema)
