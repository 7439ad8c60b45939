import contextlib
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
        with library.open(file, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise BadImage(name, _too_large(f"{image.width:,} × {image.height:,} pixels"))
            yield image
    except BadImage:
        raise
    except (library.DecompressionBombError, library.DecompressionBombWarning):
        raise BadImage(name, _too_large("far too many pixels")) from None
    except Exception as error:  # on broken bytes, Pillow's readers raise almost anything
        raise BadImage(name, f"cannot be read as an image: {_reason(error, name)}") from None


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
