"""Parts of image sets and other labels for them."""

import numpy as np
import pytest

from leanset import InputError
from leanset.data import Images, open_source
from leanset.data.encoded import LazyPixels
from tests.data.pictures import class_folder, noise


@pytest.fixture(params=["array", "decoded when asked for"])
def images(request, tmp_path):
    class_folder(tmp_path / "train", noise(12))
    class_folder(tmp_path / "test", noise(4, seed=1))
    found = open_source(f"folder:{tmp_path}", memory=2**30 if request.param == "array" else 0)
    assert isinstance(found.pixels, np.ndarray if request.param == "array" else LazyPixels)
    return found


PLACES = np.array([1, 4, 5, 9])


def test_a_part_has_the_pixels_labels_and_rows_of_its_places(images):
    part, some = images.take(PLACES), np.array([3, 0, 0])
    assert part.pixels.shape == (4, *images.pixels.shape[1:])
    np.testing.assert_array_equal(part.pixels[np.arange(4)], images.pixels[PLACES])
    np.testing.assert_array_equal(part.pixels[some], images.pixels[PLACES[some]])
    np.testing.assert_array_equal(part.labels, images.labels[PLACES])
    np.testing.assert_array_equal(part.rows, PLACES)
    assert part.classes == images.classes
    assert part.held_out is images.held_out
    assert (part.channels, part.size, len(part)) == (images.channels, images.size, 4)


def test_a_part_of_a_part_is_a_part(images):
    inner = images.take(PLACES).take(np.array([0, 2]))
    np.testing.assert_array_equal(inner.pixels[np.arange(2)], images.pixels[PLACES[[0, 2]]])
    np.testing.assert_array_equal(inner.rows, PLACES[[0, 2]])


def test_a_lazy_part_stays_lazy(tmp_path):
    class_folder(tmp_path, noise(12))
    part = open_source(f"folder:{tmp_path}", memory=0).take(PLACES)
    for file in tmp_path.rglob("*.png"):
        file.unlink()
    with pytest.raises(InputError, match=r"\.png"):
        part.pixels[np.array([0])]


def test_a_part_is_known_again_by_its_places(images):
    identity = images.take(PLACES).identity
    assert images.take(PLACES.copy()).identity == identity
    assert images.take(PLACES.astype(np.int32)).identity == identity
    assert images.take(PLACES[:3]).identity != identity
    assert images.take(PLACES + 1).identity != identity
    assert images.identity not in (identity, images.take(np.arange(12)).identity)


def test_other_labels_change_the_labels_and_nothing_else(images):
    flipped = 1 - images.labels
    noisy = images.with_labels(flipped.astype(np.uint8))
    np.testing.assert_array_equal(noisy.labels, flipped)
    assert noisy.labels.dtype == images.labels.dtype
    assert noisy.pixels is images.pixels
    assert noisy.held_out is images.held_out
    np.testing.assert_array_equal(noisy.rows, images.rows)


def test_other_labels_are_known_again(images):
    flipped = 1 - images.labels
    one_more = flipped.copy()
    one_more[0] = 1 - one_more[0]
    identity = images.with_labels(flipped).identity
    assert images.with_labels(flipped.astype(np.int8)).identity == identity
    assert images.identity != identity
    assert images.with_labels(one_more).identity != identity
    assert images.take(np.arange(12)).with_labels(flipped).identity != identity


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2], r"whole numbers in 0\.\.1"),
        ([0, 1, -1], r"whole numbers in 0\.\.1"),
        ([0.0, 1.0, 1.0], r"whole numbers in 0\.\.1"),
        ([True, False, True], r"whole numbers in 0\.\.1"),
        ([0, 1], "one label for each of the 3 images"),
        ([[0, 1, 1]], "one label for each of the 3 images"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, message):
    three = Images(np.zeros((3, 3, 4, 4), np.uint8), np.array([0, 1, 0]), ("cat", "dog"))
    with pytest.raises(InputError, match=message):
        three.with_labels(np.array(labels))


def test_nothing_is_no_part():
    three = Images(np.zeros((3, 3, 4, 4), np.uint8), np.array([0, 1, 0]), ("cat", "dog"))
    with pytest.raises(InputError, match="non-empty"):
        three.take(np.zeros(0, dtype=np.int64))
