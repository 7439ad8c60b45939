import numpy as np
import pytest

from leanset import InputError
from leanset.data import open_source
from tests.data.pictures import encoded, noise, truncated_jpeg

datasets = pytest.importorskip("datasets")

PIXELS = noise(6)
LABELS = [0, 1, 2, 0, 1, 2]
NAMES = ["zebra", "ant", "bee"]


@pytest.fixture(autouse=True)
def quiet():
    datasets.disable_progress_bars()


def pictures(rows, broken=None):
    content = [{"bytes": encoded(image), "path": None} for image in PIXELS[rows]]
    if broken is not None:
        content[broken]["bytes"] = truncated_jpeg()
    kinds = datasets.Features(image=datasets.Image(), label=datasets.ClassLabel(names=NAMES))
    return datasets.Dataset.from_dict({"image": content, "label": LABELS[rows]}, features=kinds)


@pytest.mark.parametrize("memory", [2**30, 0])
def test_one_dataset(tmp_path, memory):
    pictures(slice(6)).save_to_disk(tmp_path / "d")
    images = open_source(f"hf:{tmp_path / 'd'}", memory=memory)
    np.testing.assert_array_equal(images.pixels[np.arange(6)], PIXELS)
    assert images.classes == tuple(NAMES)
    assert images.labels.tolist() == LABELS
    assert images.held_out is None


@pytest.mark.parametrize("held_out", ["test", "validation"])
def test_splits(tmp_path, held_out):
    splits = datasets.DatasetDict({"train": pictures(slice(6)), held_out: pictures(slice(4, 6))})
    splits.save_to_disk(tmp_path / "d")
    images = open_source(f"hf:{tmp_path / 'd'}")
    np.testing.assert_array_equal(images.held_out.pixels, PIXELS[4:])
    assert images.held_out.labels.tolist() == [1, 2]


def test_rows_follow_a_shuffled_dataset(tmp_path):
    pictures(slice(6)).select([5, 3, 1, 0, 2, 4]).save_to_disk(tmp_path / "d")
    np.testing.assert_array_equal(open_source(f"hf:{tmp_path / 'd'}").pixels, PIXELS[[5, 3, 1, 0, 2, 4]])


def test_features_with_class_names(tmp_path):
    features = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    kinds = datasets.Features(features=[datasets.Value("float32")], label=datasets.ClassLabel(names=NAMES))
    data = datasets.Dataset.from_dict({"features": features, "label": LABELS}, features=kinds)
    datasets.DatasetDict(train=data, test=data).save_to_disk(tmp_path / "d")
    examples = open_source(f"hf:{tmp_path / 'd'}")
    np.testing.assert_array_equal(examples.features, features)
    assert examples.classes == examples.validation.classes == tuple(NAMES)


def test_lists_that_are_longer_than_their_column_are_damage(tmp_path):
    kinds = datasets.Features(features=[datasets.Value("float32")], label=datasets.ClassLabel(names=NAMES))
    data = datasets.Dataset.from_dict({"features": np.ones((6, 3)), "label": LABELS}, features=kinds)
    data.save_to_disk(tmp_path / "d")
    [file] = (tmp_path / "d").glob("*.arrow")
    begins = np.arange(0, 21, 3, dtype=np.int32)  # of each row's list, among all numbers
    content = file.read_bytes()
    assert begins.tobytes() in content
    file.write_bytes(content.replace(begins.tobytes(), (1000 * begins).tobytes()))
    with pytest.raises(InputError, match="d: is damaged: "):
        open_source(f"hf:{tmp_path / 'd'}")


def test_parquet_files_of_a_dataset_keep_its_class_names(tmp_path):
    pictures(slice(6)).to_parquet(tmp_path / "a.parquet")
    images = open_source(str(tmp_path / "a.parquet"))
    assert images.classes == tuple(NAMES)
    np.testing.assert_array_equal(images.pixels, PIXELS)


def test_broken_image_bytes_name_the_row(tmp_path):
    pictures(slice(6), broken=4).save_to_disk(tmp_path / "d")
    with pytest.raises(InputError, match="d row 4: cannot be read as an image"):
        open_source(f"hf:{tmp_path / 'd'}")
    assert open_source(f"hf:{tmp_path / 'd'}", on_bad="skip").rows.tolist() == [0, 1, 2, 3, 5]


def test_datasets_that_do_not_fit(tmp_path):
    with pytest.raises(InputError, match="cannot be read as a dataset that `save_to_disk` wrote"):
        open_source(f"hf:{tmp_path}")
    datasets.DatasetDict(test=pictures(slice(6))).save_to_disk(tmp_path / "d")
    with pytest.raises(InputError, match="no `train` among the splits test"):
        open_source(f"hf:{tmp_path / 'd'}")
    pictures(slice(2)).save_to_disk(tmp_path / "e")
    with pytest.raises(InputError, match=r"1 of the 3 classes have no training example \(first: 'bee'\)"):
        open_source(f"hf:{tmp_path / 'e'}")
