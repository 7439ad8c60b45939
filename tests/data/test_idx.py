import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leanset import InputError
from leanset.data import idx, open_source

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 5, 4), dtype=np.uint8)
LABELS = np.array([0, 1, 2, 0, 1, 2], dtype=np.uint8)


def idx_bytes(array, shape=None):
    shape = array.shape if shape is None else shape
    return struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape) + array.tobytes()


def write(folder, split="train", images=IMAGES, labels=LABELS, mark="-", packed=False):
    for content, axes, array in (("images", 3, images), ("labels", 1, labels)):
        data = array if isinstance(array, bytes) else idx_bytes(array)
        name = f"{split}-{content}{mark}idx{axes}-ubyte"
        (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(data) if packed else data)


@pytest.mark.parametrize("mark", ["-", "."])
@pytest.mark.parametrize("packed", [False, True])
def test_what_was_written_comes_back(tmp_path, mark, packed):
    write(tmp_path, mark=mark, packed=packed)
    assert open_source(f"idx:{tmp_path}").held_out is None
    write(tmp_path, "t10k", IMAGES[::-1], LABELS[::-1], mark=mark, packed=packed)
    images = open_source(f"idx:{tmp_path}")
    np.testing.assert_array_equal(images.pixels, IMAGES[:, None])
    np.testing.assert_array_equal(images.held_out.pixels, IMAGES[::-1, None])
    assert images.labels.tolist() == LABELS.tolist()
    assert images.held_out.labels.tolist() == LABELS[::-1].tolist()
    assert images.classes == ("0", "1", "2")
    assert images.channels == 1


@given(
    arrays(np.uint8, st.tuples(*[st.integers(1, 5)] * 3)),
    st.booleans(),
)
def test_round_trip(tmp_path_factory, array, packed):
    path = tmp_path_factory.getbasetemp() / ("x.gz" if packed else "x")
    path.write_bytes(gzip.compress(idx_bytes(array)) if packed else idx_bytes(array))
    np.testing.assert_array_equal(idx._read(str(path), 3), array)


@pytest.mark.parametrize("packed", [False, True])
@given(data=st.data())
def test_any_cut_or_longer_file_is_refused(tmp_path_factory, packed, data):
    content = idx_bytes(IMAGES)
    content = data.draw(st.integers(0, len(content) - 1).map(lambda size: content[:size]) | st.just(content + b"x"))
    path = tmp_path_factory.getbasetemp() / ("y.gz" if packed else "y")
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(InputError, match=f"{path.name}: "):
        idx._read(str(path), 3)


@pytest.mark.parametrize(
    ("images", "match"),
    [
        (b"\x00\x00\x0d\x03" + bytes(12), r"starts with 00 00 08 03; this one starts with 00 00 0d 03"),
        (idx_bytes(LABELS), "starts with 00 00 08 03; this one starts with 00 00 08 01"),
        (idx_bytes(IMAGES, (2**32 - 1,) * 3), "its header claims .* MiB, more than the .* MiB of memory that are free"),
        (idx_bytes(IMAGES, (600, 50, 40)), "claims 1,200,000 bytes .* is shorter"),
        (idx_bytes(IMAGES, (0, 5, 4)), "is longer than the 0 bytes"),
        (b"", "cannot be read as an IDX file"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_headers_that_lie(tmp_path, images, match, packed):
    write(tmp_path, images=images, packed=packed)
    with pytest.raises(InputError, match=match):
        open_source(f"idx:{tmp_path}")


def test_files_without_images(tmp_path):
    write(tmp_path, images=IMAGES[:0], labels=LABELS[:0])
    with pytest.raises(InputError, match="`train-images` must be non-empty"):
        open_source(f"idx:{tmp_path}")


def test_a_gzip_bomb_is_left_packed(tmp_path):
    write(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").unlink()
    bomb = gzip.compress(idx_bytes(IMAGES) + bytes(2**26))
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(bomb)
    with pytest.raises(InputError, match="is longer than the 120 bytes"):
        open_source(f"idx:{tmp_path}")


def test_a_damaged_gzip_file(tmp_path):
    write(tmp_path, packed=True)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    for content in (
        path.read_bytes()[:-30],
        b"no gzip at all",
        path.read_bytes()[:30] + bytes(40) + path.read_bytes()[70:],
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"train-images-idx3-ubyte\.gz: "):
            open_source(f"idx:{tmp_path}")


def test_splits_that_do_not_fit_together(tmp_path):
    write(tmp_path)
    write(tmp_path, "t10k", IMAGES[:, :3])
    with pytest.raises(InputError, match=r"t10k images are \(3, 4\) but the training images are \(5, 4\)"):
        open_source(f"idx:{tmp_path}")
    write(tmp_path, "t10k", IMAGES, LABELS + 1)
    with pytest.raises(InputError, match="`t10k-labels` row 2 is '3'"):
        open_source(f"idx:{tmp_path}")
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(InputError, match="needs one of t10k-labels-idx1-ubyte"):
        open_source(f"idx:{tmp_path}")
    with pytest.raises(InputError, match=r"needs one of .* in this folder"):
        open_source(f"idx:{tmp_path / 'train-images-idx3-ubyte'}")
