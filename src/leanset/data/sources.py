import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from leanset._errors import InputError
from leanset._progress import Advance
from leanset.data.cifar import read_cifar10, read_cifar100
from leanset.data.examples import Examples
from leanset.data.folder import read_folder
from leanset.data.hf import read_hf
from leanset.data.idx import read_idx
from leanset.data.images import Images
from leanset.data.lines import CSV_ENDINGS, JSON_ENDINGS, read_csv, read_jsonl
from leanset.data.npy import read_npy
from leanset.data.npz import read_npz_source
from leanset.data.parquet import read_parquet
from leanset.data.reading import DEFAULT_MEMORY, FEATURES_MEMORY, Reading
from leanset.data.targets import Classes
from leanset.data.tiny_imagenet import read_tiny_imagenet
from leanset.data.zarr_store import read_zarr

READERS: dict[str, Callable[[str, Reading], Images | Examples]] = {
    "cifar10": read_cifar10,
    "cifar100": read_cifar100,
    "tiny-imagenet": read_tiny_imagenet,
    "idx": read_idx,
    "folder": read_folder,
    "npz": read_npz_source,
    "npy": read_npy,
    "parquet": read_parquet,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "hf": read_hf,
    "zarr": read_zarr,
}
# Options that apply only to some kinds of source; other kinds would ignore them, so they are refused.
_TABLES = ("parquet", "csv", "jsonl", "hf")
_USERS = {
    "on_bad": ("tiny-imagenet", "folder", "parquet", "hf"),
    "image_size": ("tiny-imagenet", "folder", "parquet", "hf"),
    "image_column": ("parquet", "hf"),
    **dict.fromkeys(
        ("label_column", "weight_column", "feature_columns", "drop", "text_column", "text_model", "id_column"), _TABLES
    ),
}
_BARE_ENDINGS = {
    ".npz": "npz",
    ".npy": "npy",
    ".parquet": "parquet",
    ".zarr": "zarr",
    **dict.fromkeys(CSV_ENDINGS, "csv"),
    **dict.fromkeys(JSON_ENDINGS, "jsonl"),
}
_BARE = "an .npz, .npy, .parquet, .csv or .jsonl file, or a .zarr store"


def open_source(
    spec: str,
    *,
    on_bad: str = "stop",
    image_size: int | None = None,
    label_column: str | None = None,
    weight_column: str | None = None,
    image_column: str | None = None,
    feature_columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    text_column: str | None = None,
    text_model: str | None = None,
    id_column: str | None = None,
    targets: str = "classes",
    memory: int = DEFAULT_MEMORY,
    features_memory: int = FEATURES_MEMORY,
    advance: Advance | None = None,
) -> Images | Examples:
    """Read a data source: images, or features that a network has already computed.

    Parameters
    ----------
    spec : str
        `kind:path` with one of the kinds cifar10, cifar100, tiny-imagenet, idx, folder, npz, npy, parquet, csv, jsonl, hf,
        zarr; or just the path of an .npz, .npy, .parquet, .csv or .jsonl file, or of a .zarr store, which may be a URL.
    on_bad : "stop" or "skip"
        What to do if an image cannot be decoded: raise, or leave it out and list it in `Images.unreadable`; `Images.rows`
        keeps the row numbers of the source. If more than half of a split cannot be decoded, always raise.
    image_size : int or None
        Side of the square that encoded images are scaled to (by the shorter side) and cropped to (at the centre). None
        keeps the size if all images have the same size, and means 224 otherwise.
    label_column, image_column : str or None
        Columns of a table (parquet, csv, jsonl, hf); None tries the usual names. Images are in parquet and hf only.
    weight_column : str or None
        Column of a table that says how much each row counts; None takes `sample_weight`, if there is one.
    feature_columns, drop : lists of str
        Columns of a table that are the features, or that are not; if neither is given, all that are nothing else.
    text_column, text_model : str or None
        Column of texts that are turned into features, and the folder of a sentence-transformers model to do it with;
        None does it by TF-IDF and its main directions.
    id_column : str or None
        Column that names the rows; None tries the usual names.
    targets : "classes", "labels" or "numbers"
        What the labels of features are: one class, a matrix of 0 and 1, or numbers. Images have classes.
    memory : int
        Encoded images that need more bytes than this when decoded are decoded each time they are read.
    features_memory : int
        Features that need more bytes than this stay in their files, if they can be read from there in parts (npy, zarr,
        parquet, and npz as `np.savez` writes it), and passes over them read chunk by chunk.
    advance : callable or None
        Called with the completed share of the decoding.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "grey.npz")
    ...     np.savez(path, images=np.zeros((4, 8, 8), np.uint8), labels=["cat", "dog", "cat", "dog"])
    ...     images = open_source(f"npz:{path}")
    >>> images.pixels.shape, images.classes
    ((4, 1, 8, 8), ('cat', 'dog'))
    """
    kind, path = _parsed(spec)
    reading = Reading(
        on_bad=on_bad,
        image_size=image_size,
        label_column=label_column,
        weight_column=weight_column,
        image_column=image_column,
        feature_columns=feature_columns,
        drop=tuple(drop),
        text_column=text_column,
        text_model=text_model,
        id_column=id_column,
        targets=targets,
        memory=memory,
        features_memory=features_memory,
    )
    for name, users in _USERS.items():
        if getattr(reading, name) not in (None, "stop", ()) and kind not in users:
            raise InputError(
                f"`{name}={getattr(reading, name)!r}` does not apply to a {kind} source, only to {', '.join(users)}."
            )
    if advance is not None:
        reading = replace(reading, advance=advance)
    try:
        data = READERS[kind](path, reading)
    except InputError as error:
        if path in str(error):
            raise
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}.") from None
    if isinstance(data, Images) and targets != Classes.kind:
        raise InputError(f"{path}: images have one class each, so they need `loss='softmax'`.")
    return data


def kind_of(spec: str) -> str:
    """Return the kind of a source, from its prefix or from the ending of a bare path; "" if unknown.

    Examples
    --------
    >>> kind_of("folder:cats.npz"), kind_of("cats.npz"), kind_of("cats")
    ('folder', 'npz', '')
    """
    kind, colon, _ = spec.partition(":")
    return kind if colon and kind in READERS else _BARE_ENDINGS.get(os.path.splitext(spec)[1].lower(), "")


def _parsed(spec: str) -> tuple[str, str]:
    kinds = f"a source is `kind:path`, with one of the kinds {', '.join(READERS)}"
    kind = kind_of(spec)
    path = spec.removeprefix(f"{kind}:")
    if not kind:
        raise InputError(f"`{spec}`: {kinds}, or the path of {_BARE}.")
    if kind == "zarr" and "://" in path:
        return kind, path
    path = os.path.expanduser(path)  # the shell does not expand the ~ in `folder:~/pictures`
    if not path or not os.path.exists(path):
        raise InputError(f"`{spec}`: there is no file or folder `{path}`; {kinds}.")
    if not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"`{spec}`: `{path}` is neither a regular file nor a folder; pipes and devices are not read.")
    return kind, path
