"""Turn many image files (or byte strings) into one `Images`.

A set whose decoded images fit into `Reading.memory` is decoded into one array; rows of a larger set are decoded on
demand. Both ways give the same pixels.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO, Protocol

import numpy as np

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset._files import open_regular
from leanset._progress import Advance, part_of
from leanset._threads import in_order
from leanset.data.decode import BadImage, decoded, surveyed
from leanset.data.images import Images, PixelArray, Unreadable
from leanset.data.labels import refuse_empty_classes
from leanset.data.origin import Origin
from leanset.data.reading import Reading

MIXED_SIZE = 224  # side that images of mixed sizes are scaled to; most image models are trained on it
_AT_ONCE = 16  # images that a worker thread processes at a time


class Encoded(Protocol):
    """Encoded images by row number."""

    def __len__(self) -> int: ...

    @property
    def root(self) -> str:
        """The folder that the files are in; "" if the images are no files."""

    @property
    def names(self) -> list[str]:
        """What the rows are called, such as the files inside the folder; empty if they have no names."""

    def name(self, row: int) -> str:
        """Return the name of the image for messages."""

    def stamp(self, row: int) -> str:
        """Return text that identifies the image without decoding it: its place in the source and its size."""

    def open(self, row: int) -> BinaryIO:
        """Return the encoded bytes as a file."""


@dataclass(frozen=True)
class Files:
    """Image files under one folder, in row order."""

    root: str
    names: list[str]

    def __len__(self) -> int:
        return len(self.names)

    def name(self, row: int) -> str:
        """Return the path as the user would write it."""
        return os.path.join(self.root, self.names[row])

    def stamp(self, row: int) -> str:
        """Return the path inside the folder and the file's size."""
        return f"{self.names[row]}\0{os.stat(self.name(row)).st_size}"

    def open(self, row: int) -> BinaryIO:
        """Open the file if it is a regular file; opening a pipe would block."""
        path = self.name(row)
        try:
            return open_regular(path)
        except OSError as error:
            raise BadImage(path, f"cannot be opened: {error.strerror}") from None


@dataclass(frozen=True)
class Labelled:
    """One split of a source: encoded images and their class codes."""

    encoded: Encoded
    codes: Rows


@dataclass(frozen=True)
class LazyPixels:
    """Images that are decoded each time their rows are read."""

    encoded: Encoded
    rows: Rows
    size: tuple[int, int]

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, 3, height, width)."""
        return len(self.rows), 3, *self.size

    def __getitem__(self, rows: Rows) -> PixelArray:
        wanted = self.rows[rows]
        out = np.empty((len(wanted), 3, *self.size), dtype=np.uint8)
        _each(_filler(out, self.encoded, wanted), len(wanted), lambda share: None)
        return out


def images_from(train: Labelled, held_out: Labelled | None, classes: tuple[str, ...], reading: Reading) -> Images:
    """Decode the splits of a source at one common size, now or on demand."""
    splits = [train] if held_out is None else [train, held_out]
    survey = reading.image_size is None or reading.on_bad == "skip"
    phases = len(splits) * (1 + survey)
    bad: list[list[Unreadable]] = [[] for _ in splits]
    sizes: set[tuple[int, int]] = set()
    for nth, split in enumerate(splits if survey else []):
        found, bad[nth] = _survey(split.encoded, reading, part_of(reading.advance, nth, phases))
        sizes |= found
    size = _common_size(sizes, reading.image_size)
    lazy = sum(len(split.codes) for split in splits) * 3 * size[0] * size[1] > reading.memory
    make = _read_later if lazy else _read_now
    made = [
        make(split, classes, size, missing, reading, part_of(reading.advance, phases - len(splits) + nth, phases))
        for nth, (split, missing) in enumerate(zip(splits, bad, strict=True))
    ]
    refuse_empty_classes(classes, made[0].labels)
    return made[0] if held_out is None else _with_held_out(made[0], made[1])


def _with_held_out(train: Images, held_out: Images) -> Images:
    identity = hashlib.sha256(f"{train.identity}{held_out.identity}".encode()).hexdigest()
    return replace(train, held_out=held_out, identity=identity)


def _common_size(sizes: set[tuple[int, int]], image_size: int | None) -> tuple[int, int]:
    if image_size is not None:
        return image_size, image_size
    return next(iter(sizes)) if len(sizes) == 1 else (MIXED_SIZE, MIXED_SIZE)


def _survey(encoded: Encoded, reading: Reading, advance: Advance) -> tuple[set[tuple[int, int]], list[Unreadable]]:
    sizes: set[tuple[int, int]] = set()  # adding to a set is safe from several threads

    def look(row: int) -> None:
        with contextlib.closing(encoded.open(row)) as file:
            sizes.add(surveyed(file, encoded.name(row), verify=reading.on_bad == "skip"))

    return sizes, _collected(look, np.arange(len(encoded)), reading, advance)


def _read_now(
    split: Labelled,
    classes: tuple[str, ...],
    size: tuple[int, int],
    bad: list[Unreadable],
    reading: Reading,
    advance: Advance,
) -> Images:
    rows = _without(np.arange(len(split.codes)), bad)
    pixels = np.empty((len(rows), 3, *size), dtype=np.uint8)
    bad = bad + _collected(_filler(pixels, split.encoded, rows), rows, reading, advance)
    _refuse_mostly_bad(bad, len(split.codes))
    kept = _without(rows, bad)
    for place, old in enumerate(np.flatnonzero(np.isin(rows, kept))):
        if place != old:  # close the gaps in place; a second array might not fit
            pixels[place] = pixels[old]
    return Images(
        pixels[: len(kept)],
        split.codes[kept],
        classes,
        kept,
        unreadable=_sorted(bad),
        files=_names(split.encoded, kept),
        origin=_origin(split.encoded),
    )


def _read_later(
    split: Labelled,
    classes: tuple[str, ...],
    size: tuple[int, int],
    bad: list[Unreadable],
    reading: Reading,
    advance: Advance,
) -> Images:
    rows = _without(np.arange(len(split.codes)), bad)
    if reading.on_bad == "skip":
        # The header of a JPEG says little; only decoding finds damage, and it must be found before training starts.
        bad = bad + _collected(_decoder(split.encoded, rows, size), rows, reading, advance)
    _refuse_mostly_bad(bad, len(split.codes))
    rows = _without(rows, bad)
    pixels = LazyPixels(split.encoded, rows, size)
    identity = _stamped(split, classes, pixels)
    advance(1.0)
    return Images(
        pixels,
        split.codes[rows],
        classes,
        rows,
        unreadable=_sorted(bad),
        files=_names(split.encoded, rows),
        origin=_origin(split.encoded),
        identity=identity,
    )


def _names(encoded: Encoded, rows: Rows) -> tuple[str, ...]:
    names = encoded.names
    return tuple(names[row] for row in rows.tolist()) if names else ()


def _origin(encoded: Encoded) -> Origin:
    return Origin(root=os.path.abspath(encoded.root) if isinstance(encoded, Files) else "")


def _stamped(split: Labelled, classes: tuple[str, ...], pixels: LazyPixels) -> str:
    digest = hashlib.sha256(f"{pixels.shape}\0".encode() + "\0".join(classes).encode())
    digest.update(np.ascontiguousarray(split.codes[pixels.rows]).data)
    for row in pixels.rows:
        digest.update(split.encoded.stamp(int(row)).encode(errors="surrogateescape") + b"\0")
    return digest.hexdigest()


def _collected(work: Callable[[int], object], rows: Rows, reading: Reading, advance: Advance) -> list[Unreadable]:
    bad: list[Unreadable] = []

    def attempt(place: int) -> None:
        try:
            work(place)
        except BadImage as error:
            if reading.on_bad == "stop":
                raise
            bad.append(Unreadable(int(rows[place]), error.file, error.reason))

    _each(attempt, len(rows), advance)
    return bad


def _each(work: Callable[[int], None], count: int, advance: Advance) -> None:
    def some(places: slice) -> int:
        for place in range(places.start, places.stop):
            work(place)
        return int(places.stop)

    for done in in_order(some, [slice(at, min(at + _AT_ONCE, count)) for at in range(0, count, _AT_ONCE)]):
        advance(done / count)


def _decoder(encoded: Encoded, rows: Rows, size: tuple[int, ...]) -> Callable[[int], PixelArray]:
    def decode(place: int) -> PixelArray:
        row = int(rows[place])
        with contextlib.closing(encoded.open(row)) as file:
            return decoded(file, encoded.name(row), size)

    return decode


def _filler(out: PixelArray, encoded: Encoded, rows: Rows) -> Callable[[int], None]:
    decode = _decoder(encoded, rows, out.shape[2:])

    def fill(place: int) -> None:
        out[place] = decode(place)

    return fill


def _without(rows: Rows, bad: list[Unreadable]) -> Rows:
    return np.setdiff1d(rows, np.array([item.row for item in bad], dtype=np.int64))


def _sorted(bad: list[Unreadable]) -> tuple[Unreadable, ...]:
    return tuple(sorted(bad, key=lambda item: item.row))


def _refuse_mostly_bad(bad: list[Unreadable], count: int) -> None:
    if 2 * len(bad) > count:
        first = _sorted(bad)[0]
        raise InputError(
            f"{len(bad):,} of {count:,} images cannot be read, which is too many to leave out; "
            f"the first is {first.file}: {first.reason}."
        )
