import numpy as np
import pytest

from leanset import InputError
from leanset.data import read_labels, read_npz


def test_round_trip(toy, toy_npz):
    examples = read_npz(toy_npz)
    np.testing.assert_array_equal(examples.features, toy[0])
    assert len(examples.validation) == 120


def test_truncated_file(toy_npz):
    content = toy_npz.read_bytes()
    for size in (0, 100, len(content) // 2, len(content) - 10):
        toy_npz.write_bytes(content[:size])
        with pytest.raises(InputError, match=r"toy\.npz"):
            read_npz(toy_npz)


def test_damaged_member(toy_npz):
    content = bytearray(toy_npz.read_bytes())
    content[300:400] = bytes(100)
    toy_npz.write_bytes(bytes(content))
    with pytest.raises(InputError, match="cannot be read"):
        read_npz(toy_npz)


def test_pickled_objects_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "exploded"), "w"))

    path = tmp_path / "bomb.npz"
    np.savez(path, features=np.array([Bomb()], dtype=object), labels=[0])
    with pytest.raises(InputError, match="pickled objects, which are never loaded"):
        read_npz(path)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"a": [1], "b": [2]}, "no `features` and no `labels`.*found a, b"),
        ({"features": [[1.0]]}, "no `labels`"),
        ({"features": [[1.0], [2.0]], "labels": [0, 1], "val_features": [[1.0]]}, "give both or neither"),
    ],
)
def test_foreign_keys(tmp_path, arrays, match):
    np.savez(tmp_path / "f.npz", **arrays)
    with pytest.raises(InputError, match=match):
        read_npz(tmp_path / "f.npz")


def test_missing_file_and_other_formats(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_npz(tmp_path / "absent.npz")
    (tmp_path / "text.npz").write_text("features")
    with pytest.raises(InputError, match="not an npz file"):
        read_npz(tmp_path / "text.npz")
    with pytest.raises(InputError, match="directory"):
        read_npz(tmp_path)


def test_further_labels_are_read_by_name_whatever_else_the_file_holds(tmp_path):
    path = tmp_path / "noisy.npz"
    worse, aggregate = np.array([3, 0, 1], np.int8), np.array([3, 2, 1], np.uint16)
    np.savez(path, worse=worse, aggregate=aggregate, labels=np.array([0, 2, 1]), votes=np.zeros((3, 4)))
    found = read_labels(path, (name for name in ("aggregate", "worse")))  # names that can be gone through once
    assert list(found) == ["aggregate", "worse"]
    for name, expected in (("worse", worse), ("aggregate", aggregate)):
        np.testing.assert_array_equal(found[name], expected)
        assert found[name].dtype == np.int64
    np.testing.assert_array_equal(read_labels(path, ["labels"])["labels"], [0, 2, 1])


def test_further_labels_that_cannot_be_read_are_named(tmp_path):
    path = tmp_path / "noisy.npz"
    np.savez(path, worse=[0, 1], votes=np.zeros((2, 3), int), shares=[0.5, 1.0], names=["cat", "dog"])
    with pytest.raises(InputError, match=r"noisy\.npz: has no 'best'; it contains names, shares, votes, worse"):
        read_labels(path, ["worse", "best"])
    for name in ("votes", "shares", "names"):
        with pytest.raises(InputError, match=rf"noisy\.npz: '{name}' must be a list of whole numbers"):
            read_labels(path, [name])
    with pytest.raises(InputError, match="No such file"):
        read_labels(tmp_path / "absent.npz", ["worse"])
    path.write_text("worse")
    with pytest.raises(InputError, match=r"not an npz file.*one array of labels per kind"):
        read_labels(path, ["worse"])


def test_further_labels_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "noisy.npz", worse=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="pickled objects, which are never loaded"):
        read_labels(tmp_path / "noisy.npz", ["worse"])
