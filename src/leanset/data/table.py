"""Turn Arrow tables, from Parquet files or Hugging Face datasets, into `Images` or `Examples`."""

import io
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Rows
from leanset._errors import InputError
from leanset.data.encoded import Labelled, images_from
from leanset.data.examples import Examples, checked_examples
from leanset.data.images import Images
from leanset.data.labels import coded_labels, codes_among, numbered_labels, refuse_empty_classes
from leanset.data.reading import Reading

if TYPE_CHECKING:
    import pyarrow as pa

LABEL_COLUMNS = ("label", "labels", "fine_label", "class", "target")
IMAGE_COLUMNS = ("image", "img", "images")


@dataclass(frozen=True)
class Columns:
    """The columns to read: the labels, and either an image column or feature columns."""

    label: str
    image: str | None
    features: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The names of all columns to read."""
        return [*self.features, self.label] if self.image is None else [self.image, self.label]


@dataclass(frozen=True)
class EncodedColumn:
    """Images as a column of byte strings; a memory-mapped column stays on disk."""

    where: str
    column: "pa.ChunkedArray"

    def __len__(self) -> int:
        return len(self.column)

    @property
    def files(self) -> list[str]:
        """None: the images are bytes in a table."""
        return []

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


def chosen_columns(schema: "pa.Schema", where: str, reading: Reading) -> Columns:
    """Choose the label, image and feature columns: those the user named, or those with usual names."""
    label = _picked(schema, where, "label_column", reading.label_column, LABEL_COLUMNS)
    if label is None:
        raise InputError(
            f"{where}: no label column ({', '.join(LABEL_COLUMNS)}); give one of {', '.join(schema.names)} as `label_column`."
        )
    image = _picked(schema, where, "image_column", reading.image_column, IMAGE_COLUMNS)
    if image is not None and not _holds_bytes(schema.field(image).type):
        raise InputError(
            f"{where}: column `{image}` must contain encoded image files, as bytes or as a struct with `bytes`; "
            f"it is {schema.field(image).type}."
        )
    return Columns(label, image, () if image is not None else _feature_columns(schema, where, label))


def source_from(
    train: "pa.Table",
    held_out: "pa.Table | None",
    columns: Columns,
    classes: tuple[str, ...] | None,
    where: str,
    reading: Reading,
) -> Images | Examples:
    """Build images or examples from the chosen columns; `classes` are the class names of integer labels, if known."""
    if columns.image is None:
        return _examples(train, held_out, columns, classes, where, reading)
    labels = _labels(train, columns.label, where)
    held_labels = None if held_out is None else _labels(held_out, columns.label, f"held-out {where}")
    codes, names = _codes(labels, classes, columns)
    split = Labelled(_encoded(train, columns.image, where), codes)
    if held_out is None or held_labels is None:
        return images_from(split, None, names, reading)
    into = codes_among if classes is None else numbered_labels
    held_codes = into(names, held_labels, len(held_out), f"held-out {columns.label}", columns.image)
    return images_from(
        split, Labelled(_encoded(held_out, columns.image, f"held-out {where}"), held_codes), names, reading
    )


def _examples(
    train: "pa.Table",
    held_out: "pa.Table | None",
    columns: Columns,
    classes: tuple[str, ...] | None,
    where: str,
    reading: Reading,
) -> Examples:
    def part(table: "pa.Table", place: str) -> tuple[AnyArray, AnyArray]:
        return _features(table, columns, where), _labels(table, columns.label, place, reading.targets)

    validation = None if held_out is None else part(held_out, f"held-out {where}")
    features, labels = part(train, where)
    if reading.targets != "classes" or classes is None:
        return checked_examples(features, labels, validation, reading.targets)
    refuse_empty_classes(classes, numbered_labels(classes, labels, len(features), "labels", "features"))
    return checked_examples(features, labels, validation).renamed(classes)


def class_names(schema: "pa.Schema", label: str) -> tuple[str, ...] | None:
    """Return the class names that Hugging Face datasets store in a schema, or None."""
    try:
        note = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        names = note["info"]["features"][label]["names"]
    except (ValueError, KeyError, TypeError):
        return None
    return tuple(map(str, names)) if isinstance(names, list) and names else None


def _picked(schema: "pa.Schema", where: str, option: str, wanted: str | None, usual: tuple[str, ...]) -> str | None:
    if wanted is None:
        return next((name for name in usual if name in schema.names), None)
    if wanted not in schema.names:
        raise InputError(f"{where}: no column `{option}={wanted!r}`; the columns are {', '.join(schema.names)}.")
    return wanted


def _holds_bytes(kind: "pa.DataType") -> bool:
    from pyarrow import types

    if types.is_struct(kind):
        at = kind.get_field_index("bytes")
        return at >= 0 and _holds_bytes(kind.field(at).type)
    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def _feature_columns(schema: "pa.Schema", where: str, label: str) -> tuple[str, ...]:
    from pyarrow import types

    # pandas writes its index as a column of this name; it is not a feature.
    fields = [field for field in schema if field.name != label and not field.name.startswith("__index_level_")]
    lists = [field.name for field in fields if _is_list(field.type)]
    numbers = [field.name for field in fields if types.is_integer(field.type) or types.is_floating(field.type)]
    if len(lists) > 1 and "features" not in lists:
        raise InputError(
            f"{where}: several columns contain lists of numbers ({', '.join(lists)}); rename one to `features`."
        )
    if lists:
        return ("features",) if "features" in lists else (lists[0],)
    if not numbers:
        raise InputError(
            f"{where}: needs an image column ({', '.join(IMAGE_COLUMNS)}, or the one `image_column` names), "
            f"a column of lists of numbers, or numeric columns besides `{label}`; found {', '.join(schema.names)}."
        )
    return tuple(numbers)


def _is_list(kind: "pa.DataType") -> bool:
    from pyarrow import types

    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)))


def _refuse_nulls(column: Any, name: str, where: str) -> None:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{where}: column `{name}` has {column.null_count:,} missing values, first at row {row}.")


def _labels(table: "pa.Table", name: str, where: str, targets: str = "classes") -> AnyArray:
    import pyarrow as pa

    column = table[name]
    _refuse_nulls(column, name, where)
    if targets != "classes" and _is_list(column.type):
        return _from_lists(column, name, where)  # several labels or numbers per example
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        raise InputError(f"{where}: column `{name}` must contain integers or text; it is {column.type}.")
    values: AnyArray = column.to_numpy()
    return values


def _codes(labels: ArrayLike, classes: tuple[str, ...] | None, columns: Columns) -> tuple[Rows, tuple[str, ...]]:
    of = columns.image or "features"
    if classes is None:
        return coded_labels(labels, len(np.asarray(labels)), of)
    return numbered_labels(classes, labels, len(np.asarray(labels)), columns.label, of), classes


def _encoded(table: "pa.Table", name: str, where: str) -> EncodedColumn:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table[name]
    _refuse_nulls(column, name, where)
    if pa.types.is_struct(column.type):
        # A struct may name a file instead of containing its bytes; an untrusted table must not choose files to open.
        column = pc.struct_field(column, "bytes")
        _refuse_nulls(column, f"{name}.bytes", where)
    return EncodedColumn(where, column)


def _features(table: "pa.Table", columns: Columns, where: str) -> AnyArray:
    for name in columns.features:
        _refuse_nulls(table[name], name, where)
    if _is_list(table.schema.field(columns.features[0]).type):
        return _from_lists(table[columns.features[0]], columns.features[0], where)
    return np.column_stack([table[name].to_numpy() for name in columns.features])


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
    matrix: AnyArray = flat.to_numpy().reshape(len(column), -1)
    return matrix
