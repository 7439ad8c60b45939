import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from leanset._errors import InputError, missing_extra
from leanset._folder import Folder
from leanset.data.columns import chosen_columns
from leanset.data.examples import Examples
from leanset.data.frames import arrow_table
from leanset.data.images import Images
from leanset.data.parquet import read_files
from leanset.data.reading import HELD_OUT_NAMES, Reading
from leanset.data.table import class_names, source_from

_STATE = "state.json"  # names the files of a dataset


def read_hf(path: str, reading: Reading) -> Images | Examples:
    """Read a Hugging Face dataset that was saved with `save_to_disk`.

    If there are splits, `train` is read and the first of `validation`, `valid`, `val`, `test` is held out. Rows keep
    their order in the dataset. The label column gives the class names, if it has any.
    """
    return _read(_loaded(path), path, reading)


def is_dataset(value: Any) -> bool:
    """Return whether a value is a Hugging Face dataset, or several splits of one, or a dataset of Arrow."""
    if _is_of_arrow(value):
        return True
    library = sys.modules.get("datasets")  # whoever has a dataset has imported it
    kinds = ("Dataset", "DatasetDict", "IterableDataset", "IterableDatasetDict")
    return library is not None and isinstance(value, tuple(getattr(library, name) for name in kinds))


def _is_of_arrow(value: Any) -> bool:
    library = sys.modules.get("pyarrow.dataset")
    return library is not None and isinstance(value, library.Dataset)


def _read_arrow(dataset: Any, reading: Reading) -> Images | Examples:
    """Read a dataset of Arrow; Parquet files on this machine may be larger than the memory."""
    where, files = "this dataset", list(getattr(dataset, "files", ()))
    if files and all(file.endswith(".parquet") and os.path.isfile(file) for file in files):
        return read_files(files, [], where, reading)
    table = dataset.to_table()
    columns = chosen_columns(table.schema, where, reading)
    return source_from(table, None, columns, class_names(table.schema, columns.label), where, reading)


def read_in_memory(data: Any, reading: Reading) -> Images | Examples:
    """Read a frame with a column of labels, or a Hugging Face dataset, in whatever format it gives its rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [3, 5, 4], "id": [7, 8, 9], "kind": ["cat", "dog", "cat"]})
    >>> examples = read_in_memory(table, Reading(label_column="kind"))
    >>> examples.columns, examples.names, examples.classes
    (('age',), ('7', '8', '9'), ('cat', 'dog'))
    """
    trusted = replace(reading, may_open_files=True)
    if _is_of_arrow(data):
        return _read_arrow(data, trusted)
    if is_dataset(data):
        return _read(data, "this dataset", trusted)
    table = arrow_table(data, "features")
    columns = chosen_columns(table.schema, "this frame", trusted)
    return source_from(table, None, columns, class_names(table.schema, columns.label), "this frame", trusted)


def _read(loaded: Any, where: str, reading: Reading) -> Images | Examples:
    train, held_out = _splits(where, loaded)
    if not hasattr(train, "select_columns") or not hasattr(train, "__len__"):
        raise InputError(f"{where}: is read as a stream; rows need numbers, so load it as a whole (`streaming=False`).")
    # The arrow format returns image columns as the stored bytes, which are then decoded with our own checks.
    schema = train.features.arrow_schema
    columns = chosen_columns(schema, where, reading)
    names = getattr(train.features[columns.label], "names", None)
    tables = [None if split is None else _table(split, columns.names, where) for split in (train, held_out)]
    return source_from(tables[0], tables[1], columns, tuple(names) if names else None, where, reading)


def _table(split: Any, names: list[str], where: str) -> Any:
    import pyarrow as pa

    table = split.select_columns(names).with_format("arrow")[:]
    try:
        table.validate(full=True)  # of a damaged file, lists may say that they are longer than the column
    except pa.ArrowException as error:
        raise InputError(f"{where}: is damaged: {str(error).splitlines()[0].rstrip('.')}.") from None
    return table


def _loaded(path: str) -> Any:
    try:
        import datasets
    except ImportError:
        raise missing_extra("Reading Hugging Face datasets", "hf") from None
    _refuse_files_elsewhere(path)
    try:
        return datasets.load_from_disk(path)
    except Exception as error:  # other folders fail in many ways
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise InputError(f"{path}: cannot be read as a dataset that `save_to_disk` wrote: {reason}.") from None


def _refuse_files_elsewhere(path: str) -> None:
    """Raise if the list of files in a saved dataset, or in one of its splits, names a file that is not beside it."""
    for state in (*Path(path).glob(_STATE), *Path(path).glob(f"*/{_STATE}")):
        values = Folder(state.parent).read_json(_STATE)
        files = values.get("_data_files")
        for file in files if isinstance(files, list) else ():
            name = file.get("filename") if isinstance(file, dict) else None
            if not isinstance(name, str) or Path(name).name != name or (state.parent / name).is_symlink():
                raise InputError(f"{state}: names a file that is not in its folder ({name!r}); it is not read.")


def _splits(where: str, loaded: Any) -> tuple[Any, Any]:
    if not isinstance(loaded, dict):
        return loaded, None
    if "train" not in loaded:
        raise InputError(f"{where}: no `train` among the splits {', '.join(loaded)}.")
    return loaded["train"], next((loaded[name] for name in HELD_OUT_NAMES if name in loaded), None)
