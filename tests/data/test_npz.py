import numpy as np
import pytest

from leanset import InputError
from leanset.data import read_npz


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
        ({"x": [1], "y": [2]}, "no `features` and no `labels`.*found x, y"),
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
