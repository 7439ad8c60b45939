import os

from leanset._arrays import AnyArray
from leanset._errors import InputError
from leanset._files import DamagedFile, mapped_array
from leanset.data.examples import Examples
from leanset.data.images import Images
from leanset.data.npz import source_from_arrays
from leanset.data.reading import Reading

# How files of features and images are called, and the labels that belong to them.
_PAIRS = (("features", "labels"), ("embeddings", "labels"), ("images", "labels"), ("X", "y"), ("x", "y"))


def read_npy(path: str, reading: Reading) -> Images | Examples:
    """Read a pair of .npy files: features.npy (or images.npy, embeddings.npy, X.npy) and labels.npy (or y.npy) beside it.

    The path is the file of the features, or the folder. Held-out rows are in files with the same names and `val_` before
    them. A prefix or suffix is allowed if both files have it: train_X.npy and train_y.npy. A file sample_weight.npy beside
    them says how much each example counts.
    """
    content, features, labels = _pair(path)
    files = {content: features, "labels": labels, "sample_weight": _beside(features, "sample_weight.npy")}
    arrays = {content: _array(features), "labels": _array(labels)}
    files |= {f"val_{key}": _beside(file, f"val_{os.path.basename(file)}") for key, file in files.items()}
    for key, file in files.items():
        if key not in arrays and os.path.exists(file):
            arrays[key] = _array(file)
    return source_from_arrays(path, arrays, reading)


def _beside(file: str, name: str) -> str:
    return os.path.join(os.path.dirname(file), name)


def _pair(path: str) -> tuple[str, str, str]:
    """Return what the first array is, and both files."""
    folder = os.path.isdir(path)
    for first, second in _PAIRS:
        stem = first if folder else os.path.splitext(os.path.basename(path))[0]
        place = path if folder else os.path.dirname(path)
        if first not in stem:
            continue
        features, labels = (os.path.join(place, f"{name}.npy") for name in (stem, stem.replace(first, second)))
        if os.path.isfile(features) and os.path.isfile(labels):
            return "images" if first == "images" else "features", features, labels
    pairs = " or ".join(f"{first}.npy with {second}.npy" for first, second in _PAIRS[:4])
    raise InputError(f"{path}: needs the labels in a file beside the features: {pairs}.")


def _array(file: str) -> AnyArray:
    try:
        return mapped_array(file)
    except (OSError, DamagedFile) as error:
        raise InputError(f"{file}: cannot be read as an npy file: {error}.") from None
