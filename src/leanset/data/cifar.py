"""CIFAR-10 and CIFAR-100 from the official Python files.

Those files are pickles, and loading a pickle can run any code. So each file must have its official MD5 digest, and is
then read by an unpickler that accepts byte arrays and nothing else.
"""

import gzip
import hashlib
import io
import os
import pickle
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from leanset._errors import InputError
from leanset._files import open_regular
from leanset.data.images import Images
from leanset.data.labels import numbered_labels, refuse_empty_classes
from leanset.data.reading import Reading

_MOST_BYTES = 256 * 2**20  # each archive unpacks to 187 MB
_RECONSTRUCT = np.empty(0).__reduce__()[0]  # the function that pickled numpy arrays start with


@dataclass(frozen=True)
class _Release:
    folder: str
    train: tuple[str, ...]
    test: str
    meta: str
    labels: bytes
    names: bytes
    md5: Mapping[str, str]


# Digests of the files inside the archives at https://www.cs.toronto.edu/~kriz/cifar.html
_CIFAR10 = _Release(
    folder="cifar-10-batches-py",
    train=tuple(f"data_batch_{nth}" for nth in range(1, 6)),
    test="test_batch",
    meta="batches.meta",
    labels=b"labels",
    names=b"label_names",
    md5={
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        "test_batch": "40351d587109b95175f43aff81a1287e",
        "batches.meta": "5ff9c542aee3614f3951f8cda6e48888",
    },
)
_CIFAR100 = _Release(
    folder="cifar-100-python",
    train=("train",),
    test="test",
    meta="meta",
    labels=b"fine_labels",
    names=b"fine_label_names",
    md5={
        "train": "16019d7e3df5f24257cddd939b257f8d",
        "test": "f0ef6b0ae62326f3e7ffdfab6717acfc",
        "meta": "7973b15100ade9c7d40fb424638fde48",
    },
)


def read_cifar10(path: str, reading: Reading) -> Images:
    """Read CIFAR-10 from its extracted folder or its .tar.gz: batches 1 to 5 in order, the test batch held out."""
    return _read(path, _CIFAR10)


def read_cifar100(path: str, reading: Reading) -> Images:
    """Read CIFAR-100 with its fine labels from its extracted folder or its .tar.gz: the test file is held out."""
    return _read(path, _CIFAR100)


def _read(path: str, release: _Release) -> Images:
    contents = _from_folder(path, release) if os.path.isdir(path) else _from_archive(path, release)
    for name, content in contents.items():
        found = hashlib.md5(content, usedforsecurity=False).hexdigest()
        if found != release.md5[name]:
            raise InputError(
                f"{path}: `{name}` is not the official file: its MD5 digest must be {release.md5[name]}; found {found}."
            )
    classes = _class_names(contents, release)
    held_out = _images(contents, (release.test,), classes, release)
    train = _images(contents, release.train, classes, release, held_out)
    refuse_empty_classes(classes, train.labels)
    return train


def _from_folder(path: str, release: _Release) -> dict[str, bytes]:
    inner = os.path.join(path, release.folder)
    folder = inner if os.path.isdir(inner) else path
    contents = {}
    for name in release.md5:
        try:
            with open_regular(os.path.join(folder, name)) as file:
                contents[name] = _bounded(file, os.path.join(folder, name))
        except OSError as error:
            raise InputError(f"{folder}: `{name}` cannot be read: {error.strerror}.") from None
    return contents


def _from_archive(path: str, release: _Release) -> dict[str, bytes]:
    wanted = {f"{release.folder}/{name}": name for name in release.md5}
    contents: dict[str, bytes] = {}
    try:
        # Only members with the exact names are read, into memory; nothing is extracted to a path chosen by the archive.
        with (
            open_regular(path) as file,
            gzip.open(file) as unpacked,
            tarfile.open(fileobj=_Limited(unpacked, path), mode="r|") as archive,
        ):
            for member in archive:
                if member.issparse():  # its holes unpack from nothing to any size
                    raise InputError(f"{path}: `{member.name}` is a sparse file; no official archive has one.")
                if member.isfile() and member.name in wanted:
                    content = archive.extractfile(member)
                    contents[wanted[member.name]] = content.read() if content else b""
    except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path}: is neither a folder nor a readable .tar.gz of `{release.folder}`: {error}."
        ) from None
    missing = sorted(set(release.md5) - set(contents))
    if missing:
        raise InputError(f"{path}: no `{release.folder}/{missing[0]}` in this archive.")
    return contents


def _bounded(file: BinaryIO, path: str) -> bytes:
    content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise InputError(f"{path}: is larger than {_MOST_BYTES // 2**20} MiB; no official file is.")
    return content


class _Limited(io.RawIOBase):
    """A stream that raises an error once it is longer than any official archive."""

    def __init__(self, stream: gzip.GzipFile, path: str) -> None:
        self._stream = stream
        self._path = path
        self._left = _MOST_BYTES

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise InputError(
                f"{self._path}: unpacks to more than {_MOST_BYTES // 2**20} MiB; no official archive does."
            )
        return block


def _class_names(contents: Mapping[str, bytes], release: _Release) -> tuple[str, ...]:
    names = _unpickled(contents[release.meta], release.meta).get(release.names)
    if not isinstance(names, list) or not all(isinstance(name, bytes) for name in names):
        raise InputError(f"`{release.meta}` must contain a list of class names.")
    return tuple(name.decode("ascii", errors="replace") for name in names)


def _images(
    contents: dict[str, bytes],
    names: tuple[str, ...],
    classes: tuple[str, ...],
    release: _Release,
    held_out: Images | None = None,
) -> Images:
    pixels, codes = [], []
    for name in names:
        batch = _unpickled(contents.pop(name), name)  # frees the content, which is read only once
        data = batch.get(b"data")
        if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != 3072:
            raise InputError(f"`{name}` must contain (n, 3072) bytes of pixels.")
        pixels.append(data.reshape(-1, 3, 32, 32))
        labels = batch.get(release.labels, [])
        codes.append(numbered_labels(classes, labels, len(data), f"{name} labels", f"{name} data"))
    return Images(np.concatenate(pixels), np.concatenate(codes), classes, held_out=held_out)


def _unpickled(content: bytes, name: str) -> dict[Any, Any]:
    try:
        loaded = _ByteArrays(io.BytesIO(content), encoding="bytes").load()
    except InputError as error:
        raise InputError(f"`{name}`: {error}") from None
    except Exception as error:  # a broken pickle can raise anything
        raise InputError(f"`{name}` cannot be read: {type(error).__name__} {error}.") from None
    if not isinstance(loaded, dict):
        raise InputError(f"`{name}` must contain a dictionary; got {type(loaded).__name__}.")
    return loaded


class _ByteArrays(pickle.Unpickler):
    """Unpickles lists, numbers, strings and arrays of unsigned bytes; any other name is refused before it is looked up."""

    def find_class(self, module: str, name: str) -> Any:
        known = {
            ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
            ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): _byte_type,
            ("_codecs", "encode"): _latin_bytes,
        }
        if (module, name) not in known:
            raise InputError(f"asks for `{module}.{name}`, which a file of images does not need; it is not loaded.")
        return known[module, name]


def _byte_type(code: bytes | str, *_: object) -> "np.dtype[np.uint8]":
    if code not in (b"u1", "u1"):
        raise InputError(f"contains an array of type {code!r}; only unsigned bytes (u1) are read.")
    return np.dtype(np.uint8)


def _latin_bytes(text: str, encoding: str = "latin1") -> bytes:
    if encoding != "latin1":  # the only encoding that Python 3 uses for bytes in old pickles
        raise InputError(f"asks for the text encoding {encoding!r}; only latin1 is read.")
    return text.encode("latin1")
