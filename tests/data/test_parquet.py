import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leanset import InputError
from leanset.data import Examples, Images, open_source, parquet
from leanset.data.encoded import LazyPixels
from tests.data.pictures import encoded, huge_png, noise, truncated_jpeg

PIXELS = noise(6)
LABELS = [0, 1, 2, 0, 1, 2]
BYTES = [encoded(image) for image in PIXELS]
STRUCTS = [{"bytes": content, "path": None} for content in BYTES]
FEATURES = np.random.default_rng(1).normal(size=(6, 3))


def write(path, columns, **options):
    pq.write_table(pa.table(columns), path, **options)
    return f"parquet:{path}"


@pytest.mark.parametrize(
    "column", [BYTES, STRUCTS, pa.array(BYTES, pa.large_binary())], ids=["bytes", "struct", "large"]
)
@pytest.mark.parametrize("name", ["image", "img"])
def test_images(tmp_path, column, name):
    spec = write(tmp_path / "a.parquet", {"id": range(6), name: column, "label": LABELS}, row_group_size=2)
    images = open_source(spec)
    np.testing.assert_array_equal(images.pixels, PIXELS)
    assert images.labels.tolist() == LABELS
    assert isinstance(open_source(spec.removeprefix("parquet:")), Images)


def test_images_decoded_later(tmp_path):
    images = open_source(write(tmp_path / "a.parquet", {"image": STRUCTS, "label": LABELS}), memory=0)
    assert isinstance(images.pixels, LazyPixels)
    np.testing.assert_array_equal(images.pixels[np.array([5, 1])], PIXELS[[5, 1]])
    other = open_source(write(tmp_path / "b.parquet", {"image": STRUCTS[::-1], "label": LABELS}), memory=0)
    assert images.identity != other.identity


def test_named_columns_and_text_labels(tmp_path):
    spec = write(tmp_path / "a.parquet", {"photo": BYTES, "animal": ["dog", "cat", "cat"] * 2, "label": LABELS})
    images = open_source(spec, image_column="photo", label_column="animal")
    assert images.classes == ("cat", "dog")
    assert images.labels.tolist() == [1, 0, 0] * 2


def test_dictionary_labels(tmp_path):
    labels = pa.array(["dog", "cat", "cat"] * 2).dictionary_encode()
    assert open_source(write(tmp_path / "a.parquet", {"image": BYTES, "label": labels})).classes == ("cat", "dog")


@pytest.mark.parametrize(
    "columns",
    [
        {"features": FEATURES.tolist()},
        {"features": pa.FixedSizeListArray.from_arrays(FEATURES.ravel(), 3), "id": range(6)},
        {"embedding": FEATURES.tolist(), "text": list("abcdef")},
        {"x": FEATURES[:, 0], "y": FEATURES[:, 1], "z": FEATURES[:, 2], "__index_level_0__": range(6)},
    ],
    ids=["lists", "fixed lists", "another name", "numeric columns"],
)
def test_features(tmp_path, columns):
    examples = open_source(write(tmp_path / "a.parquet", {**columns, "target": LABELS}, row_group_size=4))
    assert isinstance(examples, Examples)
    np.testing.assert_array_equal(examples.features, FEATURES)
    assert examples.labels.tolist() == LABELS


@pytest.mark.parametrize("held_out", ["test", "validation", "val"])
def test_a_folder_with_splits(tmp_path, held_out):
    write(tmp_path / "train-00001-of-00002.parquet", {"image": STRUCTS[3:], "label": LABELS[3:]})
    write(tmp_path / "train-00000-of-00002.parquet", {"image": STRUCTS[:3], "label": LABELS[:3]})
    write(tmp_path / f"{held_out}-00000-of-00001.parquet", {"image": STRUCTS[4:], "label": LABELS[4:]})
    images = open_source(f"parquet:{tmp_path}")
    np.testing.assert_array_equal(images.pixels, PIXELS)
    np.testing.assert_array_equal(images.held_out.pixels, PIXELS[4:])
    assert images.held_out.labels.tolist() == [1, 2]


def test_validation_comes_before_test(tmp_path):
    for name, rows in (("train", slice(6)), ("test", slice(1)), ("validation", slice(2))):
        write(tmp_path / f"{name}.parquet", {"features": FEATURES[rows].tolist(), "label": LABELS[rows]})
    assert len(open_source(f"parquet:{tmp_path}").validation) == 2


def test_a_folder_without_splits_is_all_training_rows(tmp_path):
    write(tmp_path / "b.parquet", {"features": FEATURES[3:].tolist(), "label": LABELS[3:]})
    write(tmp_path / "a.parquet", {"features": FEATURES[:3].tolist(), "label": LABELS[:3]})
    examples = open_source(f"parquet:{tmp_path}")
    np.testing.assert_array_equal(examples.features, FEATURES)
    assert examples.validation is None


@pytest.mark.parametrize("content", [truncated_jpeg(), b"", huge_png()], ids=["truncated", "empty", "huge"])
def test_broken_image_bytes_name_the_row(tmp_path, content):
    spec = write(tmp_path / "a.parquet", {"image": [*BYTES[:4], content, BYTES[5]], "label": LABELS})
    with pytest.raises(InputError, match=r"a\.parquet row 4: "):
        open_source(spec)
    images = open_source(spec, on_bad="skip")
    assert images.rows.tolist() == [0, 1, 2, 3, 5]
    assert images.unreadable[0].row == 4


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"image": BYTES, "label": [0, 1, None, 0, 1, 2]}, "`label` has 1 missing values, first at row 2"),
        ({"image": [*BYTES[:5], None], "label": LABELS}, "`image` has 1 missing values, first at row 5"),
        (
            {"image": [*STRUCTS[:1], {"bytes": None, "path": "/etc/passwd"}, *STRUCTS[2:]], "label": LABELS},
            r"`image\.bytes` has 1 missing values, first at row 1",
        ),
        ({"features": [[1.0]] * 5 + [None], "label": LABELS}, "`features` has 1 missing values, first at row 5"),
        ({"features": [[1.0]] * 5 + [[None]], "label": LABELS}, "`features` has a missing number in row 5"),
        ({"features": [[1.0]] * 5 + [[1.0, 2.0]], "label": LABELS}, "row 0 has 1 numbers, row 5 has 2"),
        ({"x": [1.0] * 5 + [None], "label": LABELS}, "`x` has 1 missing values, first at row 5"),
        ({"x": [1.0] * 5 + [np.inf], "label": LABELS}, "must be finite.*first at row 5"),
        ({"image": ["a.png"] * 6, "label": LABELS}, "must contain encoded image files.*it is string"),
        ({"image": BYTES, "kind": LABELS}, "no label column .*`label_column`"),
        ({"text": list("abcdef"), "label": LABELS}, "needs an image column.*found text, label"),
        ({"a": [[1.0]] * 6, "b": [[1.0]] * 6, "label": LABELS}, r"several columns contain lists of numbers \(a, b\)"),
        ({"image": BYTES, "label": [0.5, 1, 3, 0, 1, 3]}, "whole numbers, booleans or strings; got 0.5 at row 0"),
        ({"image": BYTES, "label": [LABELS] * 6}, "`label` must contain integers or text; it is list"),
        ({"image": pa.array([], pa.binary()), "label": pa.array([], pa.int64())}, "contains no rows"),
    ],
)
def test_tables_that_do_not_fit(tmp_path, columns, match):
    with pytest.raises(InputError, match=match) as raised:
        open_source(write(tmp_path / "a.parquet", columns))
    assert "a.parquet" in str(raised.value)


@pytest.mark.parametrize("option", ["label_column", "image_column"])
def test_a_named_column_must_be_there(tmp_path, option):
    spec = write(tmp_path / "a.parquet", {"image": BYTES, "label": LABELS})
    with pytest.raises(InputError, match=f"no column `{option}='nope'`; the columns are image, label"):
        open_source(spec, **{option: "nope"})


def test_files_that_disagree(tmp_path):
    write(tmp_path / "a.parquet", {"features": FEATURES.tolist(), "label": LABELS})
    write(tmp_path / "b.parquet", {"label": LABELS})
    with pytest.raises(InputError, match=r"b\.parquet: no column features"):
        open_source(f"parquet:{tmp_path}")
    write(tmp_path / "b.parquet", {"features": FEATURES.tolist(), "label": list("abcabc")})
    with pytest.raises(InputError, match="have different column types"):
        open_source(f"parquet:{tmp_path}")


def test_damaged_and_foreign_files(tmp_path):
    path = tmp_path / "a.parquet"
    spec = write(path, {"features": FEATURES.tolist(), "label": LABELS}, compression="gzip")
    content = path.read_bytes()
    for damaged in (b"", b"text", content[: len(content) // 2], content[:4] + b"\xff" * 150 + content[154:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"a\.parquet"):
            open_source(spec)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \.parquet file"):
        open_source(f"parquet:{tmp_path / 'empty'}")


def test_lists_without_a_row_are_refused_in_words(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"embedding": pa.array([], pa.list_(pa.float32())), "label": pa.array([], pa.int64())}), path
    )
    with pytest.raises(InputError):
        open_source(str(path))


@pytest.mark.parametrize("text", [b"wolf", b"label"], ids=["in a label", "in a column's name"])
def test_text_that_is_not_utf8(tmp_path, text):
    path = tmp_path / "a.parquet"
    columns = {"x": FEATURES[:, 0], "label": ["wolf", "lynx", "hare"] * 2}
    spec = write(path, columns, compression="none", store_schema=False)
    path.write_bytes(path.read_bytes().replace(text, b"\xff" + text[1:]))
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read as a Parquet file"):
        open_source(spec, label_column=None if text == b"wolf" else "x")


def test_rows_without_end_are_stopped(tmp_path, monkeypatch):
    # Equal strings are stored once: a few kB in the file, 200 MB in memory.
    spec = write(tmp_path / "a.parquet", {"image": [bytes(10_000)] * 20_000, "label": [0, 1] * 10_000})
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    monkeypatch.setattr(parquet, "free_memory", lambda: 2**24)
    with pytest.raises(InputError, match="unpacks to more than the 16 MiB"):
        open_source(spec)
