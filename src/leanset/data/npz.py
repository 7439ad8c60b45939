import os
import zipfile
import zlib

import numpy as np

from leanset._arrays import AnyArray
from leanset._errors import InputError
from leanset.data.examples import Examples, checked_examples
from leanset.data.limits import refuse_beyond_memory

_KEYS = "`features`, `labels` and, if wanted, both `val_features` and `val_labels`"


def read_npz(path: str | os.PathLike[str]) -> Examples:
    """Read examples from an npz file with the keys features, labels and optionally val_features, val_labels.

    Pickled objects are never loaded, so a file from a stranger can at worst be refused.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.npz")
    ...     np.savez(path, features=[[0.0], [1.0]], labels=[0, 1])
    ...     len(read_npz(path))
    2
    """
    arrays = _arrays_in(os.fspath(path))
    missing = [key for key in ("features", "labels") if key not in arrays]
    if missing:
        found = ", ".join(sorted(arrays)) or "nothing"
        raise InputError(
            f"{path}: no {' and no '.join(f'`{key}`' for key in missing)} in this npz; it must hold {_KEYS}; found {found}."
        )
    if ("val_features" in arrays) != ("val_labels" in arrays):
        raise InputError(f"{path}: only one of `val_features` and `val_labels` is there; give both or neither.")
    validation = (arrays["val_features"], arrays["val_labels"]) if "val_features" in arrays else None
    return checked_examples(arrays["features"], arrays["labels"], validation)


def _arrays_in(path: str) -> dict[str, AnyArray]:
    wanted = ("features", "labels", "val_features", "val_labels")
    try:
        if not zipfile.is_zipfile(path):
            with open(path, "rb"):  # a missing or unreadable file has its own, clearer message
                pass
            raise InputError(f"{path}: not an npz file, or a truncated one; it must hold {_KEYS}.")
        _refuse_bomb(path)
        with np.load(path, allow_pickle=False) as archive:
            found: dict[str, AnyArray] = {key: archive[key] for key in wanted if key in archive}
            return found or dict.fromkeys(archive.files, np.empty(0))
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = "it holds pickled objects, which are never loaded" if "pickle" in str(error).lower() else str(error)
        raise InputError(f"{path}: cannot be read as an npz file: {reason}.") from None


def _refuse_bomb(path: str) -> None:
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    refuse_beyond_memory(unpacked, path, "unpacks to")
