import os
import re

import numpy as np

from leanset._errors import InputError
from leanset._files import open_regular
from leanset.data.encoded import Files, Labelled, images_from
from leanset.data.images import Images
from leanset.data.labels import codes_among
from leanset.data.reading import Reading

_ANNOTATIONS = os.path.join("val", "val_annotations.txt")


def read_tiny_imagenet(path: str, reading: Reading) -> Images:
    """Read Tiny-ImageNet, or a part of it, in its official layout.

    Rows are sorted by WordNet id (the class name), and within a class by the number in the file name:
    `n01443537_2.JPEG` comes before `n01443537_10.JPEG`. The validation images, sorted by number, are held out; the
    official test images have no labels and are not read.
    """
    classes = tuple(sorted(set(_lines(path, "wnids.txt"))))
    for wnid in classes:
        if not _is_plain(wnid):
            raise InputError(f"{path}: wnids.txt must name class folders, one per line; got {wnid[:80]!r}.")
    names, labels = [], []
    for wnid in classes:
        inside = _numbered(os.path.join(path, "train", wnid, "images"))
        names += [os.path.join("train", wnid, "images", file) for file in inside]
        labels += [wnid] * len(inside)
    train = Labelled(Files(path, names), np.searchsorted(classes, labels))
    return images_from(train, _validation(path, classes), classes, reading)


def _validation(path: str, classes: tuple[str, ...]) -> Labelled | None:
    if not os.path.isdir(os.path.join(path, "val")):
        return None
    wnids = dict(_annotation(line) for line in _lines(path, _ANNOTATIONS))
    files = sorted(wnids, key=_number)
    codes = codes_among(classes, [wnids[file] for file in files], len(files), _ANNOTATIONS, "val/images")
    return Labelled(Files(path, [os.path.join("val", "images", file) for file in files]), codes)


def _annotation(line: str) -> tuple[str, str]:
    fields = line.split("\t")
    if len(fields) < 2 or not _is_plain(fields[0]):
        raise InputError(
            f"{_ANNOTATIONS}: each line must contain a file name, a tab and a WordNet id; got {line[:80]!r}."
        )
    return fields[0], fields[1]


def _is_plain(name: str) -> bool:
    """Return whether this is the name of something in a folder, and not a way out of it."""
    return os.path.basename(name) == name and name not in (".", "..") and "\0" not in name


def _lines(path: str, name: str) -> list[str]:
    try:
        with open_regular(os.path.join(path, name)) as file:
            lines = [line for line in file.read().decode().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{os.path.join(path, name)}: cannot be read, but Tiny-ImageNet's layout needs it: {error}."
        ) from None
    if not lines:
        raise InputError(f"{os.path.join(path, name)}: is empty.")
    return lines


def _numbered(folder: str) -> list[str]:
    try:
        found = [file for file in os.listdir(folder) if file.lower().endswith((".jpeg", ".jpg"))]
    except OSError as error:
        raise InputError(f"{folder}: cannot be listed, but `wnids.txt` names its class: {error.strerror}.") from None
    if not found:
        raise InputError(f"{folder}: no .JPEG file in this class folder.")
    return sorted(found, key=_number)


def _number(file: str) -> tuple[int, str]:
    numbers = re.findall(r"\d{1,18}", os.path.splitext(file)[0])  # longer ones are no numbers of images
    return (int(numbers[-1]) if numbers else -1), file
