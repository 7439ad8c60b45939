import subprocess
import sys

import numpy as np
import pytest

from leanset import InputError
from leanset.data import Examples, open_source
from leanset.data.sources import READERS
from tests.data.pictures import noise


@pytest.mark.parametrize("spec", ["", "photos", "photos:/tmp", "folder", "cifar11:/tmp", "data.csv"])
def test_unknown_kinds_list_the_known_ones(spec):
    with pytest.raises(InputError) as raised:
        open_source(spec)
    assert all(kind in str(raised.value) for kind in READERS)


@pytest.mark.parametrize("spec", ["folder:", "npz:/no/such.npz", "/no/such.npz", "hf:nowhere"])
def test_missing_paths_are_named_and_the_kinds_listed(spec):
    with pytest.raises(InputError, match=r"there is no file or folder.*cifar10, cifar100, tiny-imagenet"):
        open_source(spec)


@pytest.mark.parametrize("options", [{"on_bad": "ignore"}, {"image_size": 0}, {"image_size": 10**6}, {"memory": -1}])
def test_options_out_of_range(toy_npz, options):
    (name,) = options
    with pytest.raises(InputError, match=f"`{name}="):
        open_source(str(toy_npz), **options)


def test_a_home_folder_is_found(toy_npz, monkeypatch):
    monkeypatch.setenv("HOME", str(toy_npz.parent))
    assert len(open_source("npz:~/toy.npz")) == 240


def test_npz_features_bare_and_by_kind(toy, toy_npz):
    for spec in (str(toy_npz), f"npz:{toy_npz}"):
        examples = open_source(spec)
        assert isinstance(examples, Examples)
        np.testing.assert_array_equal(examples.features, toy[0])


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (noise(4), noise(4)),
        (noise(4).transpose(0, 2, 3, 1), noise(4)),
        (noise(4)[:, 0], noise(4)[:, :1]),
        (noise(4)[:, 0, :, :, None], noise(4)[:, :1]),
    ],
    ids=["channels first", "channels last", "grey", "grey channel last"],
)
def test_npz_images(tmp_path, stored, expected):
    path = tmp_path / "a.npz"
    np.savez(path, images=stored, labels=["b", "a", "b", "a"], val_images=stored[:2], val_labels=["a", "a"])
    images = open_source(str(path))
    np.testing.assert_array_equal(images.pixels, expected)
    np.testing.assert_array_equal(images.held_out.pixels, expected[:2])
    assert images.labels.tolist() == [1, 0, 1, 0]
    assert images.held_out.labels.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"images": noise(2) / 255, "labels": [0, 1]}, "`images` must be uint8"),
        ({"images": noise(2)[:, :2], "labels": [0, 1]}, r"got shape \(2, 2, 6, 8\)"),
        ({"images": noise(2), "labels": [0, 1, 1]}, "one label for each of the 2 rows of `images`"),
        ({"images": noise(2)}, "no `labels`"),
        ({"images": noise(2), "labels": [0, 1], "features": [[1.0]]}, "both `images` and `features`"),
        ({"images": noise(2), "labels": [0, 1], "val_images": noise(2)}, "only one of `val_images`"),
        ({"images": noise(2), "labels": [0, 1], "val_images": noise(2, 7), "val_labels": [0, 1]}, "the shape"),
        ({"images": np.array([None, None]), "labels": [0, 1]}, "pickled objects, which are never loaded"),
    ],
)
def test_npz_images_that_do_not_fit(tmp_path, arrays, match):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=match) as raised:
        open_source(str(path))
    assert str(path) in str(raised.value)


def test_missing_packages_name_the_extra(tmp_path):
    (tmp_path / "cat").mkdir()
    (tmp_path / "dog").mkdir()
    for name in ("cat", "dog"):
        (tmp_path / name / "a.png").write_bytes(b"")
    code = f"""
import sys
sys.modules["PIL"] = sys.modules["datasets"] = None
from leanset import MissingExtraError
from leanset.data import open_source
for spec, extra in (("folder:{tmp_path}", "images"), ("hf:{tmp_path}", "hf")):
    try:
        open_source(spec)
    except MissingExtraError as error:
        assert f"leanset[{{extra}}]" in str(error), error
    else:
        raise SystemExit(spec)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
