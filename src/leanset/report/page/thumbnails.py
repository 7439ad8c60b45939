"""Small pictures as text inside the page, as many as fit into what is left of its size."""

import base64
import io
from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset._errors import missing_extra
from leanset.report.page.facts import Pictures

_SIDE = 64  # pixels; smaller images are embedded as they are
_AT_ONCE = 256  # images that are read at a time
_QUALITY = 60


@dataclass(frozen=True)
class Thumbnails:
    """WebP pictures in base64 by place, and how many of the wanted ones did not fit."""

    encoded: dict[int, str]
    left_out: int

    @property
    def size(self) -> int:
        """Bytes in the page."""
        return sum(map(len, self.encoded.values()))


def thumbnails(pictures: Pictures, places: Rows, most_bytes: int) -> Thumbnails:
    """Return small copies of images, in the given order until the bytes are spent.

    Examples
    --------
    >>> made = thumbnails(np.zeros((3, 1, 8, 8), np.uint8), np.array([2, 0]), 10_000)
    >>> sorted(made.encoded), made.left_out
    ([0, 2], 0)
    >>> thumbnails(np.zeros((3, 1, 8, 8), np.uint8), np.array([2, 0]), 10).left_out
    2
    """
    encoded: dict[int, str] = {}
    spent = 0
    for start in range(0, len(places), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        for place, pixels in zip(some.tolist(), pictures[some], strict=True):
            text = _webp(pixels)
            spent += len(text) + 14  # the row number and the quotes around
            if spent > most_bytes:
                return Thumbnails(encoded, len(places) - len(encoded))
            encoded[place] = text
    return Thumbnails(encoded, 0)


def _webp(pixels: AnyArray) -> str:
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("Pictures in a report", "report") from None
    channels = np.asarray(pixels).transpose(1, 2, 0)
    image = Image.fromarray(channels[:, :, 0] if channels.shape[2] == 1 else channels)
    image.thumbnail((_SIDE, _SIDE))
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "WEBP", quality=_QUALITY)
    return base64.b64encode(buffer.getvalue()).decode()
