import os
from collections.abc import Sequence
from dataclasses import dataclass

from leanset._errors import InputError
from leanset._progress import Advance

DEFAULT_MEMORY = 4 * 2**30
FEATURES_MEMORY = 2**28  # bytes of features in a file that are read as a whole
HELD_OUT_NAMES = ("validation", "valid", "val", "test")  # the first that exists is used; test sets often have no labels


def _nobody(share: float) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a source is read; see `open_source` for the meaning of each field."""

    on_bad: str = "stop"
    image_size: int | None = None
    label_column: str | None = None
    weight_column: str | None = None
    image_column: str | None = None
    feature_columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    text_column: str | None = None
    text_model: str | None = None
    id_column: str | None = None
    may_open_files: bool = False  # whether a table may name image files: only one that is in memory already
    targets: str = "classes"
    memory: int = DEFAULT_MEMORY
    features_memory: int = FEATURES_MEMORY
    advance: Advance = _nobody

    def __post_init__(self) -> None:
        if self.on_bad not in ("stop", "skip"):
            raise InputError(f'`on_bad={self.on_bad!r}` must be "stop" or "skip".')
        if self.image_size is not None and not 1 <= self.image_size <= 4096:
            raise InputError(f"`image_size={self.image_size}` must lie in 1..4096 pixels, or be None.")
        if self.memory < 0:
            raise InputError(f"`memory={self.memory}` must be a number of bytes, 0 or more.")
        if self.text_model is not None and self.text_column is None:
            raise InputError("`text_model` needs texts: name their column with `text_column`.")


def files_of(path: str, endings: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the files of the training rows and of the held-out rows of a table: one file, or a folder of them.

    In a folder, files whose names start with `train` contain the training rows, and files that start with `validation`,
    `valid`, `val` or `test` (the first of these that exists) are held out. Without a `train` file, all rows are for
    training.
    """
    if not os.path.isdir(path):
        return [path], []
    found = sorted(name for name in os.listdir(path) if name.lower().endswith(endings))
    files = [name for name in found if os.path.isfile(os.path.join(path, name))]
    if not files:
        raise InputError(f"{path}: no {' or '.join(endings)} file in this folder.")
    train = [name for name in files if name.startswith("train")]
    held_out = next((some for split in HELD_OUT_NAMES if (some := [n for n in files if n.startswith(split)])), [])
    splits = (train, held_out) if train else (files, [])
    return tuple([os.path.join(path, name) for name in names] for names in splits)  # type: ignore[return-value]
