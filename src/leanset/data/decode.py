import contextlib
import io
import time
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from leanset._errors import InputError, missing_extra
from leanset.data.images import PixelArray

if TYPE_CHECKING:
    from PIL.Image import Image

# The only formats that are tried, whatever the file name: some other formats of Pillow start external programs.
FORMATS = ("JPEG", "PNG", "BMP", "WEBP", "GIF", "TIFF", "PPM")
ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".gif", ".tif", ".tiff", ".ppm", ".pgm")
MOST_PIXELS = 2**26  # 192 MiB once decoded; no training image has 67 megapixels
_SCAN = b"\xff\xda"  # the marker before each scan of a JPEG
MOST_SCANS = 64  # of a progressive JPEG, each of which passes over all pixels; encoders make about ten
MOST_SECONDS = 10.0  # for one image; the largest that are allowed take about one


class BadImage(InputError):
    """An image that cannot be decoded, or is too large to decode."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason


def pillow() -> ModuleType:
    """Return Pillow's `Image` module, or raise an error that names the extra to install."""
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("Reading image files", "images") from None
    return Image


def surveyed(file: BinaryIO, name: str, *, verify: bool = False) -> tuple[int, int]:
    """Return height and width from an image's header, without decoding it.

    With `verify`, also run the checks that a format offers without decoding, such as PNG's checksums.
    """
    with _opened(file, name) as image:
        size = image.height, image.width
        if verify:
            image.verify()
        return size


def decoded(file: BinaryIO, name: str, size: tuple[int, ...]) -> PixelArray:
    """Decode one image to (3, height, width), scaled to cover `size` and cropped at its centre."""
    height, width = size
    with _opened(file, name) as image:
        colour = _in_colour(image, name)
        if colour.size != (width, height):
            # Crop first, then scale: scaling first would enlarge an image one pixel wide a million times.
            colour = colour.resize(
                (width, height), pillow().Resampling.BILINEAR, box=_centre(colour.size, width / height)
            )
        return np.asarray(colour, dtype=np.uint8).transpose(2, 0, 1)


@contextlib.contextmanager
def _opened(file: BinaryIO, name: str) -> "Iterator[Image]":
    library = pillow()
    try:
        with library.open(_Timed(file, name), formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise BadImage(name, _too_large(f"{image.width:,} × {image.height:,} pixels"))
            if image.info.get("progressive"):
                _refuse_many_scans(file, name)
            yield image
    except BadImage:
        raise
    except (library.DecompressionBombError, library.DecompressionBombWarning):
        raise BadImage(name, _too_large("far too many pixels")) from None
    except Exception as error:  # on broken bytes, Pillow's readers raise almost anything
        raise BadImage(name, f"cannot be read as an image: {_reason(error, name)}") from None


class _Timed(io.RawIOBase):
    """A file that raises an error when it is read for too long: decoders ask for more bytes as they go on."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name, self._end = file, name, time.monotonic() + MOST_SECONDS

    def read(self, size: int = -1) -> bytes:
        if time.monotonic() > self._end:
            raise BadImage(self._name, f"takes more than {MOST_SECONDS:g} s to decode")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _refuse_many_scans(file: BinaryIO, name: str) -> None:
    place = file.tell()
    file.seek(0)
    scans, last = 0, b""
    while block := file.read(2**20):
        scans += (last + block).count(_SCAN)  # cannot be within a scan, where a zero follows every such byte
        last = block[-1:]
    file.seek(place)
    if scans > MOST_SCANS:
        raise BadImage(name, f"is a JPEG of {scans:,} scans; at most {MOST_SCANS} are decoded")


def _too_large(size: str) -> str:
    return f"its header claims {size}; at most {MOST_PIXELS:,} are decoded"


def _reason(error: Exception, name: str) -> str:
    if type(error).__name__ == "UnidentifiedImageError":  # Pillow's message shows a Python object instead of the file
        return f"its format is none of {', '.join(FORMATS)}"
    return str(error).rstrip(".") or type(error).__name__


def _in_colour(image: "Image", name: str) -> "Image":
    if image.mode.startswith("I;16"):  # Pillow would clip at 255, which turns most of a 16-bit image white
        image = pillow().fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode in ("I", "F"):
        raise BadImage(name, "has 32-bit pixels, whose range is not defined; convert it to 8 bits per channel")
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")  # Pillow warns if converted straight to RGB
    return image.convert("RGB")


def _centre(size: tuple[int, int], aspect: float) -> tuple[float, float, float, float]:
    width, height = size
    kept_width, kept_height = min(width, height * aspect), min(height, width / aspect)
    left, top = (width - kept_width) / 2, (height - kept_height) / 2
    return left, top, left + kept_width, top + kept_height
