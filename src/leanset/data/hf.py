from typing import Any

from leanset._errors import InputError, missing_extra
from leanset.data.examples import Examples
from leanset.data.images import Images
from leanset.data.reading import HELD_OUT_NAMES, Reading
from leanset.data.table import chosen_columns, source_from


def read_hf(path: str, reading: Reading) -> Images | Examples:
    """Read a Hugging Face dataset that was saved with `save_to_disk`.

    If there are splits, `train` is read and the first of `validation`, `valid`, `val`, `test` is held out. Rows keep
    their order in the dataset. The label column gives the class names, if it has any.
    """
    train, held_out = _splits(path, _loaded(path))
    # The arrow format returns image columns as the stored bytes, which are then decoded with our own checks.
    schema = train.features.arrow_schema
    columns = chosen_columns(schema, path, reading)
    names = getattr(train.features[columns.label], "names", None)
    tables = [
        None if split is None else split.select_columns(columns.names).with_format("arrow")[:]
        for split in (train, held_out)
    ]
    return source_from(tables[0], tables[1], columns, tuple(names) if names else None, path, reading)


def _loaded(path: str) -> Any:
    try:
        import datasets
    except ImportError:
        raise missing_extra("Reading Hugging Face datasets", "hf") from None
    try:
        return datasets.load_from_disk(path)
    except Exception as error:  # other folders fail in many ways
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise InputError(f"{path}: cannot be read as a dataset that `save_to_disk` wrote: {reason}.") from None


def _splits(path: str, loaded: Any) -> tuple[Any, Any]:
    if not isinstance(loaded, dict):
        return loaded, None
    if "train" not in loaded:
        raise InputError(f"{path}: no `train` among the splits {', '.join(loaded)}.")
    return loaded["train"], next((loaded[name] for name in HELD_OUT_NAMES if name in loaded), None)
