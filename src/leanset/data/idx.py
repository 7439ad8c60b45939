import gzip
import math
import os
import struct
import zlib
from typing import BinaryIO

import numpy as np

from leanset._errors import InputError
from leanset._files import open_regular
from leanset.data.images import Images, PixelArray
from leanset.data.labels import coded_labels, codes_among
from leanset.data.limits import refuse_beyond_memory
from leanset.data.reading import Reading

_UNSIGNED_BYTES = 0x08  # the third byte of the magic number; the fourth is the number of axes
_AT_ONCE = 2**22  # bytes
_BEST_DEFLATE = 1032  # largest expansion by deflate (zlib's technical notes); a header that claims more is false


def read_idx(path: str, reading: Reading) -> Images:
    """Read a folder of IDX files, the format of MNIST and its variants: grey images in file order.

    The files are `train-images-idx3-ubyte`, `train-labels-idx1-ubyte` and optionally, as held-out data, the same with
    `t10k`; plain or `.gz`, and with `-idx3-ubyte` or `.idx3-ubyte`.
    """
    pixels = _read(_found(path, "train", "images", 3), 3)[:, None]
    codes, classes = coded_labels(_read(_found(path, "train", "labels", 1), 1), len(pixels), "train-images")
    return Images(pixels, codes, classes, held_out=_test_images(path, classes, pixels.shape[1:]))


def _test_images(path: str, classes: tuple[str, ...], shape: tuple[int, ...]) -> Images | None:
    if not any(name.startswith("t10k-") for name in os.listdir(path)):
        return None
    pixels = _read(_found(path, "t10k", "images", 3), 3)[:, None]
    if pixels.shape[1:] != shape:
        raise InputError(f"{path}: the t10k images are {pixels.shape[2:]} but the training images are {shape[1:]}.")
    labels = _read(_found(path, "t10k", "labels", 1), 1)
    return Images(pixels, codes_among(classes, labels, len(pixels), "t10k-labels", "t10k-images"), classes)


def _found(folder: str, split: str, content: str, axes: int) -> str:
    names = [f"{split}-{content}{dot}idx{axes}-ubyte{gz}" for dot in "-." for gz in ("", ".gz")]
    paths = [os.path.join(folder, name) for name in names]
    for path in paths:
        if os.path.isfile(path):
            return path
    raise InputError(f"{folder}: needs one of {', '.join(names)} in this folder.")


def _read(path: str, axes: int) -> PixelArray:
    try:
        with open_regular(path) as file:
            if path.endswith(".gz"):
                with gzip.open(file) as unpacked:
                    return _array(unpacked, path, axes, _BEST_DEFLATE * os.path.getsize(path))  # type: ignore[arg-type]
            return _array(file, path, axes, os.path.getsize(path))
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise InputError(f"{path}: cannot be read as an IDX file: {error}.") from None


def _array(file: BinaryIO, path: str, axes: int, at_most: int) -> PixelArray:
    zeros, kind, found = struct.unpack(">HBB", file.read(4))
    if zeros != 0 or kind != _UNSIGNED_BYTES or found != axes:
        raise InputError(
            f"{path}: an IDX file of unsigned bytes with {axes} axes starts with 00 00 08 {axes:02x}; "
            f"this one starts with {struct.pack('>HBB', zeros, kind, found).hex(' ')}."
        )
    shape = struct.unpack(f">{axes}I", file.read(4 * axes))
    size = math.prod(shape)  # Python integers cannot overflow
    refuse_beyond_memory(size, path, "its header claims")
    shorter = f"{path}: its header claims {size:,} bytes ({shape}), but the file is shorter."
    if size > at_most:
        raise InputError(shorter)
    pixels = np.empty(size, dtype=np.uint8)
    for start in range(0, size, _AT_ONCE):  # into its place, so that nothing is held twice
        part = pixels[start : start + _AT_ONCE]
        content = file.read(len(part))
        if len(content) < len(part):
            raise InputError(shorter)
        part[:] = np.frombuffer(content, dtype=np.uint8)
    if file.read(1):
        raise InputError(f"{path}: is longer than the {size:,} bytes ({shape}) that its header claims.")
    return pixels.reshape(shape)
