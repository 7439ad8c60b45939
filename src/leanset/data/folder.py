import os

import numpy as np

from leanset._errors import InputError
from leanset.data.decode import ENDINGS
from leanset.data.encoded import Files, Labelled, images_from
from leanset.data.images import Images
from leanset.data.labels import codes_among
from leanset.data.reading import HELD_OUT_NAMES, Reading


def read_folder(path: str, reading: Reading) -> Images:
    """Read a folder with one sub-folder of images for each class.

    Rows are sorted by class name, and within a class by file path, as text; sub-folders of a class belong to it. If
    there is a folder `train` and one of `validation`, `valid`, `val`, `test` (the first in this order), these two are
    read, and the second is held out; otherwise every sub-folder is a class.
    """
    train_path, held_out_path = _splits(path)
    names, labels, classes = _listed(train_path)
    empty = sorted(set(classes) - set(labels))
    if empty:
        raise InputError(f"{os.path.join(train_path, empty[0])}: no image in this class folder ({', '.join(ENDINGS)}).")
    train = Labelled(Files(train_path, names), np.searchsorted(classes, labels))
    if held_out_path is None:
        return images_from(train, None, classes, reading)
    names, labels, _ = _listed(held_out_path)
    codes = codes_among(classes, labels, len(names), f"classes of {held_out_path}", held_out_path)
    return images_from(train, Labelled(Files(held_out_path, names), codes), classes, reading)


def _splits(path: str) -> tuple[str, str | None]:
    train = os.path.join(path, "train")
    others = [other for name in HELD_OUT_NAMES if os.path.isdir(other := os.path.join(path, name))]
    return (train, others[0]) if os.path.isdir(train) and others else (path, None)


def _listed(path: str) -> tuple[list[str], list[str], tuple[str, ...]]:
    if not os.path.isdir(path):
        raise InputError(f"{path}: must be a folder with one sub-folder of images for each class.")
    classes = sorted(entry.name for entry in os.scandir(path) if entry.is_dir() and not entry.name.startswith("."))
    for name in classes:
        if name.encode(errors="replace").decode() != name:
            raise InputError(f"{path}: the class folder {name!r} has a name that is not UTF-8 text.")
    names, labels = [], []
    for name in classes:
        inside = _images_under(path, name)
        names += inside
        labels += [name] * len(inside)
    if not names:
        raise InputError(f"{path}: no images ({', '.join(ENDINGS)}) in sub-folders, one for each class.")
    return names, labels, tuple(classes)


def _images_under(root: str, name: str) -> list[str]:
    found = []
    # Links to sub-folders are not followed, so a link to a parent folder cannot cause an endless loop.
    for folder, _, files in os.walk(os.path.join(root, name), onerror=_stop):
        inside = os.path.relpath(folder, root)
        found += [os.path.join(inside, file) for file in files if file.lower().endswith(ENDINGS) and file[0] != "."]
    return sorted(found)


def _stop(error: OSError) -> None:
    raise error  # os.walk would silently skip a folder that it cannot list
