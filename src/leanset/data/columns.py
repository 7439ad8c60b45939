"""Which columns of a table are the labels, the weights, the images, the texts, the names of the rows and the features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leanset._errors import InputError
from leanset.data.origin import Origin, listed
from leanset.data.reading import Reading

if TYPE_CHECKING:
    import pyarrow as pa

LABEL_COLUMNS = ("label", "labels", "fine_label", "class", "target")
WEIGHT_COLUMNS = ("sample_weight",)  # not "weight": it may be measured in kilograms
IMAGE_COLUMNS = ("image", "img", "images")
TEXT_COLUMNS = ("text", "sentence", "content")
# Names, not measurements: a row number among the features would say how the file is sorted.
ID_COLUMNS = ("id", "ID", "Id", "idx", "index", "uuid", "path", "file", "filename", "file_name")
_INDEX_OF_PANDAS = ("", "Unnamed: 0", "__index_level_")  # how pandas writes the index of a frame


@dataclass(frozen=True)
class Columns:
    """What each column is used for. The features are images, or `features`, or made from texts if there is neither.

    Attributes
    ----------
    label : the labels
    image, text, id : images, texts and names of the rows; None if there are none. Beside features, texts are only shown
    features : the columns of features
    weight : how much each row counts; None if all count alike
    left_out : columns that are not used for the features or the labels
    """

    label: str
    image: str | None
    text: str | None
    id: str | None
    features: tuple[str, ...]
    weight: str | None
    left_out: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        wanted = (self.image, *self.features, self.text, self.id, self.weight, self.label)
        return [name for name in wanted if name is not None]

    def origin(self) -> Origin:
        """Return the use of the columns, for results."""
        return Origin(
            label=self.label,
            image=self.image or "",
            text="" if self.features else self.text or "",
            id=self.id or "",
            features=self.features,
            weight=self.weight or "",
            left_out=self.left_out,
        )


def chosen_columns(schema: "pa.Schema", where: str, reading: Reading) -> Columns:
    """Choose the columns: those the user named, or those with usual names; what is not dropped is a feature."""
    _check(schema, where, reading)
    offered = [name for name in schema.names if name not in reading.drop]
    asked = tuple(reading.feature_columns or ())
    label = reading.label_column or _usual(LABEL_COLUMNS, offered, asked)
    if label is None:
        raise InputError(
            f"{where}: no label column ({', '.join(LABEL_COLUMNS)}); give one of {', '.join(schema.names)} as `label_column`."
        )
    weight = reading.weight_column or _usual(WEIGHT_COLUMNS, offered, (label, *asked))
    taken = tuple(name for name in (label, weight, *asked) if name is not None)
    own_features = asked or reading.text_column is not None
    image = reading.image_column or (None if own_features else _usual(IMAGE_COLUMNS, offered, taken))
    if image is not None and not holds_bytes(schema.field(image).type):
        raise InputError(
            f"{where}: column `{image}` must contain encoded image files, as bytes or as a struct with `bytes`; "
            f"it is {schema.field(image).type}."
        )
    if image is not None:
        if reading.weight_column is not None:
            raise InputError(
                f"`weight_column={weight!r}` does not apply to images: networks are trained without weights."
            )
        weight = None
    text = reading.text_column
    if image is None and text is None:
        text = _usual([each for each in TEXT_COLUMNS if is_text(schema, each)], offered, taken)
    row_name = reading.id_column or _usual(ID_COLUMNS, offered, taken)
    features = asked
    if image is None and not own_features:
        features = _features(schema, where, label, [each for each in offered if each not in (*taken, text, row_name)])
    used = {label, weight, image, row_name, *features, None if features else text}
    left_out = tuple(name for name in schema.names if name not in used)
    return Columns(label, image, text, row_name, features, weight, left_out)


def holds_bytes(kind: "pa.DataType") -> bool:
    """Return whether a column holds byte strings, alone or as Hugging Face stores images."""
    from pyarrow import types

    if types.is_struct(kind):
        at = kind.get_field_index("bytes")
        return at >= 0 and holds_bytes(kind.field(at).type)
    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def is_list(kind: "pa.DataType") -> bool:
    """Return whether a column holds lists of numbers."""
    from pyarrow import types

    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)))


def is_number(kind: "pa.DataType") -> bool:
    """Return whether a column holds one number in each row."""
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind))


def is_text(schema: "pa.Schema", name: str) -> bool:
    """Return whether there is such a column and it holds text."""
    from pyarrow import types

    if name not in schema.names:
        return False
    kind = schema.field(name).type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _check(schema: "pa.Schema", where: str, reading: Reading) -> None:
    try:
        names = schema.names
    except UnicodeDecodeError:
        raise InputError(f"{where}: the name of a column is not UTF-8.") from None
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(f"{where}: several columns are called `{min(twice)}`; give each a name of its own.")
    single = ("label_column", "weight_column", "image_column", "text_column", "id_column")
    wanted = {option: [name] for option in single if (name := getattr(reading, option)) is not None}
    wanted |= {"feature_columns": list(reading.feature_columns or ()), "drop": list(reading.drop)}
    for option, names in wanted.items():
        for name in names:
            if name not in schema.names:
                raise InputError(f"{where}: no column `{option}={name!r}`; the columns are {', '.join(schema.names)}.")
            if option != "drop" and name in reading.drop:
                raise InputError(f"`{option}` and `drop` both name the column {name!r}.")
    if reading.text_column is not None and not is_text(schema, reading.text_column):
        kind = schema.field(reading.text_column).type
        raise InputError(f"{where}: column `{reading.text_column}` must contain texts; it is {kind}.")
    ways = [name for name in ("image_column", "text_column", "feature_columns") if getattr(reading, name) is not None]
    if len(ways) > 1:
        raise InputError(f"`{ways[0]}` and `{ways[1]}` are two kinds of features; give one of them.")
    for name, what in ((reading.label_column, "label"), (reading.weight_column, "weight")):
        if name is not None and name in wanted["feature_columns"]:
            raise InputError(f"the {what} column `{name}` cannot be a feature, too.")
    if reading.label_column is not None and reading.label_column == reading.weight_column:
        raise InputError(f"the label column `{reading.label_column}` cannot be the weight column, too.")


def _usual(names: Sequence[str], offered: Sequence[str], taken: Sequence[str]) -> str | None:
    return next((name for name in names if name in offered and name not in taken), None)


def _features(schema: "pa.Schema", where: str, label: str, offered: Sequence[str]) -> tuple[str, ...]:
    """Return the one column of lists, or all columns that are neither names nor a written index."""
    lists = [name for name in offered if is_list(schema.field(name).type)]
    if len(lists) > 1 and "features" not in lists:
        raise InputError(
            f"{where}: several columns contain lists of numbers ({', '.join(lists)}); say which with `feature_columns`."
        )
    if lists:
        return ("features",) if "features" in lists else (lists[0],)
    plain = [
        name
        for name in offered
        if name not in (*ID_COLUMNS, *TEXT_COLUMNS, *_INDEX_OF_PANDAS) and not name.startswith(_INDEX_OF_PANDAS[-1])
    ]
    if not plain:
        raise InputError(
            f"{where}: needs an image column ({', '.join(IMAGE_COLUMNS)}, or the one `image_column` names), texts "
            f"(`text_column`), a column of lists of numbers, or columns of features besides `{label}`; "
            f"found {listed(schema.names)}."
        )
    return tuple(plain)
