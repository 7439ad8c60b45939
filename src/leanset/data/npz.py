import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset._errors import InputError
from leanset._files import DamagedFile, arrays_in
from leanset.data.examples import Examples, checked_examples
from leanset.data.images import Images, PixelArray
from leanset.data.labels import coded_labels, codes_among
from leanset.data.limits import refuse_beyond_memory
from leanset.data.reading import FEATURES_MEMORY, Reading

_KEYS = (
    "`features` (or `images`, or `X`), `labels` (or `y`), optionally both `val_features` (or `val_images`) and "
    "`val_labels`, and optionally `sample_weight` and `val_sample_weight`"
)

_WEIGHTS = ("sample_weight", "val_sample_weight")
_WANTED = ("features", "images", "labels", "val_features", "val_images", "val_labels", *_WEIGHTS)
# Other usual names of the same arrays; which of them are features and which images, their shapes tell.
_CONTENT = {
    "": ("X", "x", "X_train", "x_train", "train_features", "train_images", "embeddings"),
    "val_": ("X_val", "x_val", "val_X", "val_x", "X_test", "x_test", "test_features", "test_images"),
}
_LABELS = {
    "": ("y", "Y", "y_train", "train_labels"),
    "val_": ("y_val", "val_y", "y_test", "test_labels"),
}
_OTHER_NAMES = tuple(name for table in (_CONTENT, _LABELS) for names in table.values() for name in names)


_MOST_CODE = 2**31  # no list of classes is longer, and larger numbers would turn negative


def read_npz(path: str | os.PathLike[str], targets: str = "classes") -> Examples:
    """Read examples from an npz file with the keys features, labels and optionally val_features, val_labels.

    `sample_weight` and `val_sample_weight` say how much each example counts, if they are there. Other usual names such as X
    and y are understood, too. `targets` is the kind of the labels, as in `checked_examples`.

    Pickled objects are never loaded, so an untrusted file cannot run code.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.npz")
    ...     np.savez(path, features=[[0.0], [1.0]], labels=[0, 1])
    ...     len(read_npz(path))
    2
    """
    return _examples(os.fspath(path), _usually_named(_arrays_in(os.fspath(path))), targets)


def read_labels(path: str | os.PathLike[str], names: Iterable[str]) -> dict[str, Rows]:
    """Read further labels of the same examples, as codes, from an npz file with one array per kind.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "noisy.npz")
    ...     np.savez(path, worse=np.int8([0, 1, 1]))
    ...     read_labels(path, ["worse"])["worse"].tolist()
    [0, 1, 1]
    """
    wanted = tuple(names)
    arrays = _arrays_in(os.fspath(path), wanted, "one array of labels per kind")
    for name in wanted:
        if name not in arrays:
            found = ", ".join(sorted(arrays)) or "nothing"
            raise InputError(f"{os.fspath(path)}: has no {name!r}; it contains {found}.")
        if arrays[name].ndim != 1 or arrays[name].dtype.kind not in "iu" or (arrays[name] > _MOST_CODE).any():
            raise InputError(
                f"{os.fspath(path)}: {name!r} must be a list of whole numbers below 2**31, one per example."
            )
    return {name: arrays[name].astype(np.int64) for name in wanted}


def read_npz_source(path: str, reading: Reading) -> Images | Examples:
    """Read an npz file with either `images` or `features`, `labels`, and optionally the same with `val_`.

    Images are uint8, (n, H, W), (n, H, W, C) or (n, C, H, W) with C = 1 or 3. If both the second and the last axis could
    be the channels, the last one is used. Rows keep the order of the arrays.
    """
    return source_from_arrays(path, _usually_named(_arrays_in(path, most=reading.features_memory)), reading)


def source_from_arrays(path: str, arrays: dict[str, Any], reading: Reading) -> Images | Examples:
    """Return the images or the features in arrays with the keys of an npz file."""
    if "images" not in arrays:
        return _examples(path, arrays, reading.targets, reading.features_memory)
    if "features" in arrays:
        raise InputError(f"{path}: contains both `images` and `features`; leave one of them out.")
    return _images(path, arrays)


def _usually_named(arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Return arrays such as X and y under the keys of an npz file; the first usual name is used.

    Examples
    --------
    >>> sorted(_usually_named({"x_train": np.zeros((2, 8, 8), np.uint8), "y_train": np.arange(2)}))
    ['images', 'labels', 'x_train', 'y_train']
    """
    found = dict(arrays)
    for prefix in ("", "val_"):
        if not {f"{prefix}features", f"{prefix}images"} & arrays.keys():
            content = next((name for name in _CONTENT[prefix] if name in arrays), None)
            if content is not None:
                found[f"{prefix}{'features' if arrays[content].ndim <= 2 else 'images'}"] = arrays[content]
        labels = next((name for name in _LABELS[prefix] if name in arrays), None)
        if labels is not None:
            found.setdefault(f"{prefix}labels", arrays[labels])
    return found


def _examples(path: str, arrays: dict[str, Any], targets: str, most: int = FEATURES_MEMORY) -> Examples:
    validation: tuple[AnyArray | None, ...] | None = _checked_keys(path, arrays, "features")
    weight, val_weight = (arrays.get(name) for name in _WEIGHTS)
    if validation is not None:
        validation = (*validation, val_weight)
    elif val_weight is not None:
        raise InputError(f"{path}: contains `val_sample_weight`, but no `val_features` that it could be for.")
    return checked_examples(arrays["features"], arrays["labels"], validation, targets, weight=weight, most=most)


def _images(path: str, arrays: dict[str, AnyArray]) -> Images:
    validation = _checked_keys(path, arrays, "images")
    if weights := [name for name in _WEIGHTS if name in arrays]:
        raise InputError(f"{path}: `{weights[0]}` does not apply to images: networks are trained without weights.")
    pixels = channels_first(arrays["images"], "images")
    codes, classes = coded_labels(arrays["labels"], len(pixels), "images")
    if validation is None:
        return Images(pixels, codes, classes)
    held_out = channels_first(validation[0], "val_images")
    if held_out.shape[1:] != pixels.shape[1:]:
        raise InputError(f"`val_images` must have the shape {pixels.shape[1:]} of `images`; got {held_out.shape[1:]}.")
    val_codes = codes_among(classes, validation[1], len(held_out), "val_labels", "val_images")
    return Images(pixels, codes, classes, held_out=Images(held_out, val_codes, classes))


def channels_first(images: AnyArray, name: str) -> PixelArray:
    """Return images as (n, channels, height, width), from any usual order of the axes.

    Examples
    --------
    >>> channels_first(np.zeros((5, 8, 6, 3), np.uint8), "images").shape
    (5, 3, 8, 6)
    """
    if images.dtype != np.uint8:
        raise InputError(f"`{name}` must be uint8, 0..255; got dtype {images.dtype}.")
    if images.ndim == 3:
        return images[:, None]
    if images.ndim == 4 and images.shape[3] in (1, 3):
        refuse_beyond_memory(images.nbytes, f"`{name}`", "bringing the channels to the front takes")
        return np.ascontiguousarray(images.transpose(0, 3, 1, 2))
    if images.ndim == 4 and images.shape[1] in (1, 3):
        return images
    raise InputError(
        f"`{name}` must be (n, H, W), (n, H, W, C) or (n, C, H, W) with C = 1 or 3; got shape {images.shape}."
    )


def _checked_keys(path: str, arrays: dict[str, AnyArray], content: str) -> tuple[AnyArray, AnyArray] | None:
    missing = [key for key in (content, "labels") if key not in arrays]
    if missing:
        found = ", ".join(sorted(arrays)) or "nothing"
        raise InputError(
            f"{path}: no {' and no '.join(f'`{key}`' for key in missing)} in this npz; it must contain {_KEYS}; found {found}."
        )
    if (f"val_{content}" in arrays) != ("val_labels" in arrays):
        raise InputError(f"{path}: contains only one of `val_{content}` and `val_labels`; give both or neither.")
    return (arrays[f"val_{content}"], arrays["val_labels"]) if "val_labels" in arrays else None


def _arrays_in(
    path: str, wanted: tuple[str, ...] = (*_WANTED, *_OTHER_NAMES), content: str = _KEYS, most: int | None = None
) -> dict[str, AnyArray]:
    """Return the wanted arrays of a file; other arrays are not read and are returned empty."""
    try:
        return arrays_in(path, wanted, most)
    except DamagedFile as error:
        raise InputError(f"{path}: cannot be read as an npz file: {error}; it must contain {content}.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read as an npz file: {error.strerror or error}.") from None
