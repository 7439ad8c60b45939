import shutil

import numpy as np
import pytest
from PIL import Image

from leanset import InputError
from leanset.data import open_source
from tests.data.pictures import truncated_jpeg

WNIDS = ("n02", "n01")


def flat(value):
    """Return a picture of one colour, which JPEG keeps exactly."""
    return Image.fromarray(np.full((64, 64), value, np.uint8))


@pytest.fixture
def small(tmp_path):
    (tmp_path / "wnids.txt").write_text("\n".join(WNIDS) + "\n")
    for nth, wnid in enumerate(WNIDS):
        folder = tmp_path / "train" / wnid / "images"
        folder.mkdir(parents=True)
        for at in (0, 2, 10):
            flat(100 * nth + at).save(folder / f"{wnid}_{at}.JPEG", quality=100)
    (tmp_path / "val" / "images").mkdir(parents=True)
    lines = []
    for at, wnid in ((10, "n01"), (9, "n02")):
        flat(at).save(tmp_path / "val" / "images" / f"val_{at}.JPEG", quality=100)
        lines.append(f"val_{at}.JPEG\t{wnid}\t0\t0\t63\t63\n")
    (tmp_path / "val" / "val_annotations.txt").write_text("".join(lines))
    return tmp_path


def test_rows_follow_wnids_and_numbers(small):
    images = open_source(f"tiny-imagenet:{small}")
    assert images.classes == ("n01", "n02")
    assert images.pixels[:, 1, 5, 5].tolist() == [100, 102, 110, 0, 2, 10]
    assert images.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert images.held_out.pixels[:, 0, 0, 0].tolist() == [9, 10]
    assert images.held_out.labels.tolist() == [1, 0]
    assert images.pixels.shape == (6, 3, 64, 64)  # the files are grey


def test_without_validation_nothing_is_held_out(small):
    shutil.rmtree(small / "val")
    assert open_source(f"tiny-imagenet:{small}").held_out is None


def test_a_truncated_file(small):
    (small / "train" / "n01" / "images" / "n01_2.JPEG").write_bytes(truncated_jpeg())
    with pytest.raises(InputError, match=r"n01_2\.JPEG: .*truncated"):
        open_source(f"tiny-imagenet:{small}")
    assert open_source(f"tiny-imagenet:{small}", on_bad="skip").rows.tolist() == [0, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("wnids.txt", "", "is empty"),
        ("wnids.txt", "n01\nn02\nn03\n", r"n03.images: cannot be listed, but `wnids\.txt` names its class"),
        ("val/val_annotations.txt", "../../secret.JPEG\tn01\n", "each line must contain a file name"),
        ("val/val_annotations.txt", "val_9.JPEG\tn77\n", "'n77', which is not one of the 2 classes"),
        ("val/val_annotations.txt", "val_1.JPEG\tn01\n", r"val_1\.JPEG: cannot be opened: No such file"),
    ],
)
def test_layouts_that_do_not_fit(small, name, content, match):
    (small / name).write_text(content)
    with pytest.raises(InputError, match=match):
        open_source(f"tiny-imagenet:{small}")


def test_another_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"wnids\.txt: cannot be read, but Tiny-ImageNet's layout needs it"):
        open_source(f"tiny-imagenet:{tmp_path}")


@pytest.mark.shared
def test_the_real_one(tiny_folder):
    images = open_source(f"tiny-imagenet:{tiny_folder}")
    assert images.pixels.shape == (10_000, 3, 64, 64)
    assert len(images.held_out) == 1_000
    assert np.bincount(images.labels).tolist() == [500] * 20
    grey = np.flatnonzero((images.pixels[:, 0] == images.pixels[:, 2]).all(axis=(1, 2)))
    assert len(grey)
    row = int(grey[0])
    wnid, number = images.classes[images.labels[row]], row % 500
    with Image.open(tiny_folder / "train" / wnid / "images" / f"{wnid}_{number}.JPEG") as image:
        np.testing.assert_array_equal(images.pixels[row], np.asarray(image.convert("RGB")).transpose(2, 0, 1))
