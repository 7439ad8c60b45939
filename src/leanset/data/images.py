import hashlib
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset.data.origin import Origin

PixelArray = NDArray[np.uint8]


class Pixels(Protocol):
    """Images by row number: an array in memory, or a reader that decodes files on demand."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, channels, height, width)."""

    def __getitem__(self, rows: Rows) -> PixelArray:
        """Return the (k, channels, height, width) images of some rows."""


@dataclass(frozen=True)
class _Part:
    """Some rows of a reader, still decoded on demand."""

    pixels: Pixels
    places: Rows

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.places), *self.pixels.shape[1:])

    def __getitem__(self, rows: Rows) -> PixelArray:
        return self.pixels[self.places[rows]]


@dataclass(frozen=True)
class Unreadable:
    """An image that could not be decoded and was left out, as the user requested."""

    row: int
    file: str
    reason: str


@dataclass(frozen=True)
class Images:
    """Checked, labelled images of one size, with optional held-out images in the same form.

    Attributes
    ----------
    pixels : uint8, (n, channels, height, width)
    labels : (n,) int64 codes 0..C-1
    classes : the C class names in code order
    rows : (n,) ascending row numbers in the source; 0..n-1 unless unreadable images were left out
    held_out : the source's test or validation images, or None
    unreadable : the images that were left out
    files : (n,) what the images are called: files inside the source, or ids; empty if they have no names
    origin : where they come from
    identity : digest of the content, by which a run recognises its data

    Examples
    --------
    >>> two = Images(np.zeros((2, 3, 4, 4), np.uint8), np.array([0, 1]), ("cat", "dog"))
    >>> len(two), two.rows.tolist(), two.channels
    (2, [0, 1], 3)
    """

    pixels: Pixels
    labels: Rows
    classes: tuple[str, ...]
    rows: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    held_out: "Images | None" = None
    unreadable: tuple[Unreadable, ...] = ()
    files: tuple[str, ...] = field(default=(), repr=False)
    origin: Origin = field(default=Origin(), repr=False)
    identity: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        shape = self.pixels.shape
        if len(shape) != 4 or 0 in shape:
            raise InputError(f"images must be a non-empty (n, channels, height, width) array; got shape {shape}.")
        if self.labels.shape != (shape[0],):
            raise InputError(f"there must be one label for each of the {shape[0]:,} images; got {self.labels.shape}.")
        if not len(self.rows):
            object.__setattr__(self, "rows", np.arange(shape[0]))
        if not self.identity:
            object.__setattr__(self, "identity", self._digest())

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def channels(self) -> int:
        """1 for grey images, 3 for colour."""
        return self.pixels.shape[1]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[2], self.pixels.shape[3]

    def take(self, places: Rows) -> "Images":
        """Return the images at some ascending positions, with the same held-out images."""
        pixels = self.pixels[places] if isinstance(self.pixels, np.ndarray) else _Part(self.pixels, places)
        return replace(
            self,
            pixels=pixels,
            labels=self.labels[places],
            rows=self.rows[places],
            files=tuple(self.files[place] for place in places.tolist()) if self.files else (),
            identity=self._derived("part", places),
        )

    def with_labels(self, labels: Rows) -> "Images":
        """Return the images with other labels; the held-out ones keep theirs.

        Examples
        --------
        >>> two = Images(np.zeros((2, 3, 4, 4), np.uint8), np.array([0, 1]), ("cat", "dog"))
        >>> two.with_labels(np.array([1, 1])).labels.tolist(), two.take(np.array([1])).labels.tolist()
        ([1, 1], [1])
        """
        codes = np.asarray(labels)
        if codes.dtype.kind not in "iu" or not ((codes >= 0) & (codes < len(self.classes))).all():
            raise InputError(f"labels must be whole numbers in 0..{len(self.classes) - 1}.")
        return replace(self, labels=codes.astype(np.int64), identity=self._derived("labels", codes.astype(np.int64)))

    def _derived(self, how: str, values: Rows) -> str:
        return hashlib.sha256(
            f"{self.identity}\0{how}\0".encode() + np.ascontiguousarray(values, np.int64).tobytes()
        ).hexdigest()

    def _digest(self) -> str:
        digest = hashlib.sha256("\0".join(self.classes).encode())
        for array in (self.labels, self.rows):
            digest.update(np.ascontiguousarray(array).data)
        for start in range(0, len(self), 4096):
            digest.update(np.ascontiguousarray(self.pixels[np.arange(start, min(start + 4096, len(self)))]).data)
        if self.held_out is not None:
            digest.update(self.held_out.identity.encode())
        return digest.hexdigest()
