import numpy as np
import pytest

from leanset import InputError
from leanset.data import open_source

FEATURES = np.random.default_rng(0).normal(size=(6, 3))
LABELS = np.array([0, 1] * 3)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("features.npy", "labels.npy"),
        ("X.npy", "y.npy"),
        ("train_X.npy", "train_y.npy"),
        ("embeddings.npy", "labels.npy"),
    ],
)
def test_a_pair_beside_each_other(tmp_path, first, second):
    np.save(tmp_path / first, FEATURES)
    np.save(tmp_path / second, LABELS)
    examples = open_source(str(tmp_path / first))
    np.testing.assert_array_equal(examples.features, FEATURES)
    assert examples.labels.tolist() == LABELS.tolist()


def test_a_folder_with_held_out_rows(tmp_path):
    for name, array in (("features", FEATURES), ("labels", LABELS)):
        np.save(tmp_path / f"{name}.npy", array[:4])
        np.save(tmp_path / f"val_{name}.npy", array[4:])
    examples = open_source(f"npy:{tmp_path}")
    np.testing.assert_array_equal(examples.validation.features, FEATURES[4:])


def test_images(tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((4, 8, 8), np.uint8))
    np.save(tmp_path / "labels.npy", LABELS[:4])
    assert open_source(f"npy:{tmp_path}").pixels.shape == (4, 1, 8, 8)


def test_what_is_missing_or_broken_is_named(tmp_path):
    np.save(tmp_path / "features.npy", FEATURES)
    with pytest.raises(InputError, match=r"features\.npy: needs the labels in a file beside.*labels\.npy"):
        open_source(str(tmp_path / "features.npy"))
    np.save(tmp_path / "labels.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"labels\.npy: cannot be read as an npy file: .*pickled objects"):
        open_source(str(tmp_path / "features.npy"))
    (tmp_path / "labels.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match=r"labels\.npy: cannot be read"):
        open_source(str(tmp_path / "features.npy"))


@pytest.mark.parametrize(
    ("features", "labels", "val_features", "val_labels"),
    [("X", "y", "X_val", "y_val"), ("x_train", "y_train", "x_test", "y_test")],
)
def test_usual_names_in_an_npz(tmp_path, features, labels, val_features, val_labels):
    arrays = {features: FEATURES[:4], labels: LABELS[:4], val_features: FEATURES[4:], val_labels: LABELS[4:]}
    np.savez(tmp_path / "a.npz", **arrays)
    examples = open_source(str(tmp_path / "a.npz"))
    np.testing.assert_array_equal(examples.features, FEATURES[:4])
    np.testing.assert_array_equal(examples.validation.features, FEATURES[4:])
    np.savez(tmp_path / "b.npz", **arrays, features=2 * FEATURES[:4])
    np.testing.assert_array_equal(open_source(str(tmp_path / "b.npz")).features, 2 * FEATURES[:4])


def test_images_in_an_npz_as_keras_writes_them(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, (6, 8, 8)).astype(np.uint8)
    np.savez(tmp_path / "m.npz", x_train=pixels[:4], y_train=LABELS[:4], x_test=pixels[4:], y_test=LABELS[4:])
    images = open_source(str(tmp_path / "m.npz"))
    np.testing.assert_array_equal(images.held_out.pixels[:, 0], pixels[4:])
