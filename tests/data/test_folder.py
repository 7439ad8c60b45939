import os

import numpy as np
import pytest
from PIL import Image

from leanset import InputError
from leanset.data import open_source
from leanset.data.encoded import LazyPixels
from tests.data.pictures import class_folder, encoded, huge_png, noise, truncated_jpeg


def test_pixels_labels_and_order(tmp_path):
    expected = class_folder(tmp_path, noise(10))
    images = open_source(f"folder:{tmp_path}")
    np.testing.assert_array_equal(images.pixels, expected)
    assert images.labels.tolist() == [0] * 5 + [1] * 5
    assert images.classes == ("cat", "dog")
    assert images.held_out is None
    assert images.unreadable == ()
    assert images.rows.tolist() == list(range(10))


@pytest.mark.parametrize("name", ["val", "valid", "test"])
def test_train_and_held_out_folders(tmp_path, name):
    train = class_folder(tmp_path / "train", noise(6))
    held_out = class_folder(tmp_path / name, noise(2, seed=1), classes=("dog",))
    images = open_source(f"folder:{tmp_path}")
    np.testing.assert_array_equal(images.pixels, train)
    np.testing.assert_array_equal(images.held_out.pixels, held_out)
    assert images.held_out.labels.tolist() == [1, 1]


def test_a_lone_train_folder_is_a_class(tmp_path):
    class_folder(tmp_path, noise(4), classes=("train", "tram"))
    assert open_source(f"folder:{tmp_path}").classes == ("train", "tram")


def test_unknown_held_out_class(tmp_path):
    class_folder(tmp_path / "train", noise(4))
    class_folder(tmp_path / "test", noise(2), classes=("emu",))
    with pytest.raises(InputError, match=r"'emu', which is not one of the 2 classes"):
        open_source(f"folder:{tmp_path}")


def test_every_format_in_nested_folders_with_odd_endings(tmp_path):
    class_folder(tmp_path, noise(2))
    (tmp_path / "cat" / "deeper").mkdir()
    formats = {"a.JPG": "JPEG", "b.bmp": "BMP", "c.webp": "WEBP", "d.GIF": "GIF", "e.tiff": "TIFF", "f.ppm": "PPM"}
    for name, format in formats.items():
        (tmp_path / "cat" / "deeper" / name).write_bytes(encoded(noise(1)[0], format))
    (tmp_path / "cat" / "notes.txt").write_text("not an image")
    (tmp_path / "cat" / ".hidden.png").write_text("not an image")
    images = open_source(f"folder:{tmp_path}")
    assert images.labels.tolist() == [0] * 7 + [1]
    for row in (2, 5, 6):  # the lossless ones
        np.testing.assert_array_equal(images.pixels[row], noise(1)[0])


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "1", "CMYK", "I;16"])
def test_every_mode_becomes_colour(tmp_path, mode):
    class_folder(tmp_path, noise(2))
    grey = np.array([[0, 255]] * 2, dtype=np.uint8)
    image = Image.fromarray(grey)
    image = Image.fromarray(grey.astype(np.uint16) * 257) if mode == "I;16" else image.convert(mode)
    image.save(tmp_path / "dog" / "x.tif")
    images = open_source(f"folder:{tmp_path}", image_size=2)
    np.testing.assert_array_equal(images.pixels[2], np.stack([grey] * 3))


def test_a_palette_with_transparency(tmp_path):
    class_folder(tmp_path, noise(2))
    Image.fromarray(noise(1)[0].transpose(1, 2, 0)).quantize(4).save(
        tmp_path / "dog" / "x.png", transparency=b"\0\1\2\3"
    )
    assert len(open_source(f"folder:{tmp_path}")) == 3


def test_floating_point_pixels_are_refused(tmp_path):
    class_folder(tmp_path, noise(2))
    Image.fromarray(np.zeros((6, 8), np.float32)).save(tmp_path / "dog" / "x.tif")
    with pytest.raises(InputError, match=r"x\.tif: has 32-bit pixels"):
        open_source(f"folder:{tmp_path}")


def test_mixed_sizes_are_scaled_to_one(tmp_path):
    class_folder(tmp_path, noise(2))
    (tmp_path / "dog" / "large.png").write_bytes(encoded(noise(1, 30, 20)[0]))
    assert open_source(f"folder:{tmp_path}").size == (224, 224)
    assert open_source(f"folder:{tmp_path}", image_size=5).size == (5, 5)


def test_scaling_keeps_the_middle(tmp_path):
    stripes = np.zeros((3, 4, 12), np.uint8)
    stripes[:, :, 4:8] = 200
    class_folder(tmp_path, np.array([stripes, stripes]))
    images = open_source(f"folder:{tmp_path}", image_size=4)
    np.testing.assert_array_equal(images.pixels, np.full((2, 3, 4, 4), 200))


def test_a_thread_of_a_picture_is_not_blown_up(tmp_path):
    class_folder(tmp_path, noise(2, 1, 50_000))
    assert open_source(f"folder:{tmp_path}", image_size=64).size == (64, 64)


@pytest.mark.parametrize("memory", [2**30, 0])
@pytest.mark.parametrize(
    ("content", "match"),
    [
        (truncated_jpeg(), "truncated"),
        (b"", "none of JPEG, PNG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "none of"),
        (huge_png(), "pixels"),
    ],
    ids=["truncated", "empty", "postscript", "huge"],
)
def test_a_broken_file_stops_the_reading_and_is_named(tmp_path, content, match, memory):
    class_folder(tmp_path, noise(6))
    (tmp_path / "dog" / "001.png").write_bytes(content)
    with pytest.raises(InputError, match=rf"001\.png: .*{match}"):
        open_source(f"folder:{tmp_path}", image_size=8, memory=memory).pixels[np.arange(6)]


@pytest.mark.parametrize("content", [truncated_jpeg(), b"", huge_png()], ids=["truncated", "empty", "huge"])
def test_a_broken_file_is_left_out_if_asked(tmp_path, content):
    expected = class_folder(tmp_path, noise(10))
    (tmp_path / "cat" / "001.png").write_bytes(content)
    images = open_source(f"folder:{tmp_path}", on_bad="skip", image_size=None if content == b"" else 6)
    assert images.rows.tolist() == [0, *range(2, 10)]
    assert images.labels.tolist() == [0] * 4 + [1] * 5
    assert [(bad.row, os.path.basename(bad.file)) for bad in images.unreadable] == [(1, "001.png")]
    if content == b"":
        np.testing.assert_array_equal(images.pixels, expected[images.rows])


def test_limit_between_ours_and_pillows(tmp_path):
    class_folder(tmp_path, noise(2))
    (tmp_path / "dog" / "001.png").write_bytes(huge_png(8_500))
    with pytest.raises(InputError, match=r"8,500 × 8,500 pixels; at most 67,108,864 are decoded"):
        open_source(f"folder:{tmp_path}")


def test_mostly_broken_is_an_error_all_the_same(tmp_path):
    class_folder(tmp_path, noise(4))
    for name in ("cat/000.png", "cat/001.png", "dog/000.png"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=r"3 of 4 images cannot be read.*000\.png"):
        open_source(f"folder:{tmp_path}", on_bad="skip")


def test_a_class_of_broken_files_is_an_error(tmp_path):
    class_folder(tmp_path, noise(9), classes=("a", "b", "c"))
    for nth in range(3):
        (tmp_path / "b" / f"00{nth}.png").write_bytes(b"")
    with pytest.raises(InputError, match=r"no training example \(first: 'b'\)"):
        open_source(f"folder:{tmp_path}", on_bad="skip")


@pytest.mark.parametrize("options", [{}, {"on_bad": "skip"}, {"image_size": 4}])
def test_reading_later_gives_the_same_pixels(tmp_path, options):
    class_folder(tmp_path / "train", noise(40))
    class_folder(tmp_path / "val", noise(4, seed=2))
    now = open_source(f"folder:{tmp_path}", **options)
    later = open_source(f"folder:{tmp_path}", memory=0, **options)
    assert isinstance(later.pixels, LazyPixels)
    assert later.pixels.shape == now.pixels.shape
    rows = np.array([39, 0, 7, 7])
    np.testing.assert_array_equal(later.pixels[rows], now.pixels[rows])
    np.testing.assert_array_equal(later.held_out.pixels[np.arange(4)], now.held_out.pixels)


def test_reading_later_leaves_out_what_headers_show(tmp_path):
    class_folder(tmp_path, noise(10))
    (tmp_path / "cat" / "002.png").write_bytes(huge_png())
    expected = open_source(f"folder:{tmp_path}", on_bad="skip").pixels
    images = open_source(f"folder:{tmp_path}", on_bad="skip", memory=0)
    assert images.rows.tolist() == [0, 1, *range(3, 10)]
    np.testing.assert_array_equal(images.pixels[np.arange(9)], expected)


@pytest.mark.parametrize("memory", [2**30, 0])
def test_identity_knows_the_data_again(tmp_path, memory):
    class_folder(tmp_path / "train", noise(4))
    class_folder(tmp_path / "val", noise(2, seed=2))

    def identity(**options):
        return open_source(f"folder:{tmp_path}", memory=memory, **options).identity

    first = identity()
    assert identity() == first
    assert identity(image_size=5) != first
    (tmp_path / "val" / "cat" / "000.png").write_bytes(encoded(np.zeros_like(noise(1)[0])))
    second = identity()
    (tmp_path / "train" / "cat" / "001.png").rename(tmp_path / "train" / "dog" / "001b.png")
    assert len({first, second, identity()}) == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_links_and_pipes_do_no_harm(tmp_path):
    class_folder(tmp_path, noise(4))
    (tmp_path / "cat" / "round").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "cat" / "zz.png").symlink_to("zz.png")
    os.mkfifo(tmp_path / "dog" / "zz.png")
    images = open_source(f"folder:{tmp_path}", on_bad="skip")
    assert [bad.row for bad in images.unreadable] == [2, 5]
    assert "not a regular file" in images.unreadable[1].reason


@pytest.mark.parametrize("memory", [2**30, 0])
def test_progress_goes_up_to_one(tmp_path, memory):
    class_folder(tmp_path / "train", noise(40))
    class_folder(tmp_path / "val", noise(4))
    shares = []
    open_source(f"folder:{tmp_path}", advance=shares.append, memory=memory)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_folders_without_images(tmp_path):
    with pytest.raises(InputError, match="no images"):
        open_source(f"folder:{tmp_path}")
    class_folder(tmp_path, noise(4))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: no image in this class folder"):
        open_source(f"folder:{tmp_path}")
    with pytest.raises(InputError, match="must be a folder"):
        open_source(f"folder:{tmp_path / 'cat' / '000.png'}")


def test_names_that_are_no_text(tmp_path):
    class_folder(tmp_path, noise(4))
    try:
        os.rename(tmp_path / "cat", os.fsencode(tmp_path) + b"/c\xff")
    except OSError:
        pytest.skip("this file system only takes text for names")
    with pytest.raises(InputError, match="not UTF-8 text"):
        open_source(f"folder:{tmp_path}")


def test_a_folder_that_may_not_be_listed(tmp_path, monkeypatch):
    class_folder(tmp_path, noise(4))
    monkeypatch.setattr(os, "walk", lambda top, onerror: onerror(PermissionError(13, "Permission denied", top)))
    with pytest.raises(InputError, match=r"cannot be read: .*Permission denied"):
        open_source(f"folder:{tmp_path}")


@pytest.mark.parametrize("memory", [2**30, 0])
def test_held_out_files_may_be_broken_too(tmp_path, memory):
    class_folder(tmp_path / "train", noise(4))
    expected = class_folder(tmp_path / "val", noise(6, seed=1))
    (tmp_path / "val" / "cat" / "001.png").write_bytes(b"")
    images = open_source(f"folder:{tmp_path}", on_bad="skip", memory=memory)
    assert images.unreadable == ()
    assert images.held_out.rows.tolist() == [0, 2, 3, 4, 5]
    np.testing.assert_array_equal(images.held_out.pixels[np.arange(5)], expected[[0, 2, 3, 4, 5]])
