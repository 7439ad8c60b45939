"""Image files for the readers to read: what goes in is known, so what comes out can be compared."""

import io
import struct
import zlib

import numpy as np
from PIL import Image


def noise(count, height=6, width=8, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 3, height, width), dtype=np.uint8)


def encoded(pixels, format="PNG"):
    file = io.BytesIO()
    Image.fromarray(pixels.transpose(1, 2, 0)).save(file, format)
    return file.getvalue()


def huge_png(side=60_000):
    """Return a PNG of a few bytes whose header claims `side` x `side` pixels."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")
    )


def truncated_jpeg():
    content = encoded(noise(1, 64, 64)[0], "JPEG")
    return content[: len(content) // 2]


def class_folder(root, pixels, classes=("cat", "dog")):
    """Write images as PNG files into class folders by turns; return them in the order in which they are read."""
    ordered = []
    for nth, name in enumerate(classes):
        (root / name).mkdir(parents=True)
        for at, image in enumerate(pixels[nth :: len(classes)]):
            (root / name / f"{at:03}.png").write_bytes(encoded(image))
            ordered.append(image)
    return np.array(ordered)
