"""Small runs for the tests of report pages, with names that would do harm if they were taken for markup."""

import numpy as np

import leanset

NASTY = "<img src=x onerror=\"document.title='taken'\">"
CLASSES = (NASTY, "</script><b>bold</b>", "plain & simple")
FILES = "<u>{}</u>&amp;.png"


def small_run(n=240, **options):
    """Return a run on three classes, with its features and validation rows."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, n + 100)
    features = rng.normal(size=(n + 100, 5)) + 1.2 * np.eye(3, 5)[codes]
    labels = np.array(CLASSES)[codes]
    validation = (features[n:], labels[n:])
    result = leanset.prune(
        features[:n], labels[:n], validation=validation, **{"fraction": 0.4, "l2": 0.01, "threads": 1} | options
    )
    return result, features[:n]


def pictures_of(count, side=16):
    """Return images that differ, apart from rows 0 and 1, which are the same."""
    pixels = np.random.default_rng(5).integers(0, 255, (count, side, side, 3)).astype(np.uint8)
    pixels[1] = pixels[0]
    return pixels


def names_of(count):
    """Return names of files that contain markup."""
    return [FILES.format(row) for row in range(count)]
