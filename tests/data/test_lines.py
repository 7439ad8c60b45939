"""CSV and JSON lines say what the same Parquet table says."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from leanset import InputError
from leanset.data import Reading, open_source, read_in_memory

RNG = np.random.default_rng(4)
COLUMNS = {
    "id": [f"r{row}" for row in range(12)],
    "age": RNG.integers(20, 60, 12).tolist(),
    "height": RNG.normal(size=12).tolist(),
    "member": [True, False] * 6,
    "city": ["Rome", "Bern", "York"] * 4,
    "note": [f"text, with a comma\nand a line {row}" for row in range(12)],
    "kind": ["cat", "dog"] * 6,
}
TABLE = pa.table(COLUMNS)


def written(folder, kind, table=TABLE, name="data", delimiter=","):
    path = folder / f"{name}.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "csv":
        pc.write_csv(table, path, pc.WriteOptions(delimiter=delimiter))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_same_rows_as_in_parquet(tmp_path, kind):
    options = {"label_column": "kind", "drop": ["note"]}
    ours = open_source(written(tmp_path, kind), **options)
    same = open_source(written(tmp_path, "parquet"), **options)
    np.testing.assert_array_equal(ours.features, same.features)
    assert ours.columns == same.columns == ("age", "height", "member", "city_Bern", "city_Rome", "city_York")
    assert ours.names == tuple(COLUMNS["id"])
    assert ours.classes == ("cat", "dog")
    assert ours.origin.features == ("age", "height", "member", "city")
    assert ours.origin.left_out == ("note",)


@pytest.mark.parametrize(
    ("options", "features", "left_out"),
    [
        ({}, ("height", "member", "city"), ("note",)),
        ({"drop": ["note", "member"]}, ("height", "city"), ("member", "note")),
        ({"drop": ["city"], "weight_column": "height"}, ("age", "member"), ("city", "note")),
        ({"feature_columns": ["member", "age"], "weight_column": "height"}, ("member", "age"), ("city", "note")),
        (
            {"feature_columns": ["height"], "id_column": "city", "label_column": "member"},
            ("height",),
            ("id", "note", "kind"),
        ),
    ],
)
def test_every_kind_of_table_uses_and_lists_the_same_columns(tmp_path, options, features, left_out):
    asked = {"label_column": "kind", "weight_column": "age", "drop": ["note"]} | options
    asked["drop"] = sorted({"note", *asked["drop"]})
    positive = TABLE.set_column(2, "height", pa.array(np.abs(COLUMNS["height"])))
    read = [open_source(written(tmp_path, kind, positive), **asked) for kind in ("parquet", "csv", "jsonl")]
    read.append(read_in_memory(positive, Reading(**asked)))
    for examples in read:
        origin = examples.origin
        assert (origin.features, origin.left_out) == (features, left_out)
        assert {*origin.features, origin.label, origin.weight, origin.id, *origin.left_out} - {""} == {
            *TABLE.column_names
        }
        assert (origin.label, origin.weight) == (asked["label_column"], asked["weight_column"])
        np.testing.assert_allclose(examples.features, read[0].features)
        np.testing.assert_allclose(examples.weight, np.abs(COLUMNS[asked["weight_column"]]))
        assert examples.names == read[0].names


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_first_line_tells_the_delimiter(tmp_path, delimiter):
    plain = TABLE.select(["age", "height", "kind"])
    examples = open_source(written(tmp_path, "csv", plain, delimiter=delimiter), label_column="kind")
    np.testing.assert_allclose(examples.features, np.column_stack([COLUMNS["age"], COLUMNS["height"]]))


def test_an_id_is_no_feature_unless_it_is_named(tmp_path):
    table = pa.table({"id": range(6), "index": range(6), "x": np.arange(6.0), "label": [0, 1] * 3})
    path = written(tmp_path, "parquet", table)
    examples = open_source(path)
    assert (examples.columns, examples.names) == (("x",), tuple("012345"))
    assert open_source(path, feature_columns=["x", "id"]).columns == ("x", "id")
    assert open_source(path, id_column="index").columns == ("x",)
    with pytest.raises(InputError, match="or columns of features besides `label`; found id, index, x, label"):
        open_source(path, drop=["x"])


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_folder_with_splits(tmp_path, kind):
    written(tmp_path, kind, TABLE.slice(0, 8), "train")
    written(tmp_path, kind, TABLE.slice(8), "test")
    examples = open_source(f"{kind}:{tmp_path}", label_column="kind", feature_columns=["age", "city"])
    assert (len(examples), len(examples.validation)) == (8, 4)
    np.testing.assert_array_equal(examples.validation.features[:, 0], COLUMNS["age"][8:])


def test_lists_in_json_are_features(tmp_path):
    features = RNG.normal(size=(6, 3))
    table = pa.table({"embedding": features.tolist(), "text": list("abcdef"), "label": [0, 1] * 3})
    examples = open_source(written(tmp_path, "jsonl", table))
    np.testing.assert_array_equal(examples.features, features)
    assert examples.texts == tuple("abcdef")
    assert examples.origin.features == ("embedding",)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "no label column .*`label_column`"),
        ({"label_column": "kind", "feature_columns": ["agee"]}, "no column `feature_columns='agee'`"),
        ({"label_column": "kind", "drop": ["agee"]}, "no column `drop='agee'`; the columns are id, age"),
        ({"label_column": "kind", "drop": ["kind"]}, "`label_column` and `drop` both name the column 'kind'"),
        ({"label_column": "kind", "text_column": "age"}, "column `age` must contain texts; it is int64"),
        ({"label_column": "kind", "text_column": "note", "feature_columns": ["age"]}, "give one of them"),
        ({"label_column": "kind", "feature_columns": ["age", "kind"]}, "cannot be a feature, too"),
        ({"label_column": "kind", "text_model": "folder"}, "`text_model` needs texts"),
        ({"label_column": "kind", "text_column": "note", "text_model": "nowhere"}, "must be a folder"),
        ({"image_column": "city"}, "`image_column='city'` does not apply to a csv source"),
    ],
)
def test_columns_that_do_not_fit(tmp_path, options, match):
    with pytest.raises(InputError, match=match):
        open_source(written(tmp_path, "csv"), **options)


def test_a_column_of_many_texts_is_named_with_the_way_out(tmp_path):
    table = pa.table({"x": np.arange(120.0), "who": [f"p{k}" for k in range(120)], "label": [0, 1] * 60})
    with pytest.raises(InputError, match=r"column `who` has 120 different texts.*`drop='who'`"):
        open_source(written(tmp_path, "csv", table))


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("a.csv", "1,2,0\n3,4,1\n", "the first line must name the columns; it is '1,2,0'"),
        ("a.csv", "x,label\n", "contains no rows"),
        ("a.csv", "", "cannot be read"),
        ("a.csv", "x,label\n1,0\n2\n", "cannot be read.*Expected 2 columns, got 1"),
        ("a.csv", "x,x,label\n1,2,0\n2,3,1\n", "several columns are called `x`"),
        ("a.csv", "x,label\n1,0\n,1\n", "`x` has 1 missing values, first at row 1"),
        ("a.jsonl", '{"x": 1, "label": 0}\n{"x": ', "cannot be read"),
        ("a.jsonl", "null", "line 1 must be a JSON object"),  # Arrow ended the process
        ("a.jsonl", '{"x": 1, "label": 0}\n\n \tnull\n{"x": 1, "label": 1}', "line 3 must be a JSON object"),
        ("a.jsonl", '{"x": 1, "label": 0}\n{"x": "b", "label": 1}\n', "cannot be read"),
    ],
)
def test_broken_files(tmp_path, name, text, match):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=match) as raised:
        open_source(str(tmp_path / name))
    assert name in str(raised.value)


def test_a_column_name_that_is_not_utf8(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"x": 1, "la\xffbel": "a"}\n{"x": 2, "la\xffbel": "b"}\n')
    with pytest.raises(InputError, match=r"the name of a column is not UTF-8"):
        open_source(f"jsonl:{path}")


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x,label\n1,caf\xe9\n2,bar\n")
    with pytest.raises(InputError, match=r"a\.csv"):
        open_source(str(tmp_path / "a.csv"))
