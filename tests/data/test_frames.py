import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from leanset import InputError
from leanset.data import checked_examples, fingerprint

COLUMNS = {
    "age": [31, 40, 25, 58],
    "pay": [1.5, 2.0, 0.5, 3.0],
    "member": [True, False, True, True],
    "city": ["York", "Rome", "York", "Bern"],
}
ENCODED = np.array(
    [[31, 1.5, 1, 0, 0, 1], [40, 2.0, 0, 0, 1, 0], [25, 0.5, 1, 0, 0, 1], [58, 3.0, 1, 1, 0, 0]], dtype=float
)
NAMES = ("age", "pay", "member", "city_Bern", "city_Rome", "city_York")
Y = [0, 1, 0, 1]
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas with an index": pd.DataFrame(COLUMNS, index=pd.Index([7, 3, 5, 9], name="id")),
    "pandas category": pd.DataFrame(COLUMNS).astype({"city": "category", "age": "Int64", "member": "boolean"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars enum": pl.DataFrame(COLUMNS).with_columns(pl.col("city").cast(pl.Enum(["Bern", "Oslo", "Rome", "York"]))),
    "polars decimal": pl.DataFrame(COLUMNS).with_columns(pl.col("pay").cast(pl.Decimal(8, 2))),
    "arrow": pa.table(COLUMNS),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_become_the_same_numbers_under_the_same_names(frame):
    examples = checked_examples(frame, Y)
    assert examples.columns == NAMES
    assert (examples.features == ENCODED).all()
    assert fingerprint(examples) == fingerprint(checked_examples(ENCODED, Y))


def test_one_hot_columns_are_those_of_scikit_learn():
    encoders = pytest.importorskip("sklearn.preprocessing")
    frame = FRAMES["pandas"][["city"]]
    oracle = encoders.OneHotEncoder(sparse_output=False).fit(frame)
    examples = checked_examples(frame, Y)
    assert (examples.features == oracle.transform(frame)).all()
    assert examples.columns == tuple(oracle.get_feature_names_out())


def test_held_out_frames_are_encoded_like_the_training_frame():
    held_out = pl.DataFrame({"city": ["Rome", "Oslo"], "member": [False, True], "pay": [1.0, 2.0], "age": [1, 2]})
    examples = checked_examples(FRAMES["pandas"], Y, (held_out, [1, 0]))
    # columns in another order are found by name; a city that was never seen is none of the known ones
    assert examples.validation.features.tolist() == [[1, 1.0, 0, 0, 1, 0], [2, 2.0, 1, 0, 0, 0]]


def test_names_that_are_no_text_and_sparse_columns_work():
    matrix = np.where(np.arange(12).reshape(4, 3) % 2, 1.5, 0.0)
    frame = pd.DataFrame(matrix, columns=[0, "b", 2.5], dtype=pd.SparseDtype(float, 0))
    examples = checked_examples(frame, Y)
    assert examples.columns == ("0", "b", "2.5")
    assert (examples.features == matrix).all()


def test_float32_frames_stay_float32():
    assert checked_examples(pl.DataFrame({"a": [1.5, 2, 3, 4]}, schema={"a": pl.Float32}), Y).features.dtype == "f4"


def test_a_frame_of_labels_names_the_labels():
    tags = pd.DataFrame({"wet": [0, 1, 0, 1], "warm": [True, True, False, False]})
    examples = checked_examples(ENCODED, tags, targets="labels")
    assert examples.classes == ("wet", "warm")
    assert examples.targets.shown.tolist() == ["warm", "wet|warm", "", "wet"]
    prices = checked_examples(ENCODED, pl.DataFrame({"price": [1.0, 2.0, 3.0, 5.0]}), targets="numbers")
    assert prices.classes == ("price",)


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (pd.DataFrame({"a": [1, 2, None, 4.0]}), r"column `a` .*first at row 2"),
        (pl.DataFrame({"a": [1, None, 3, 4]}), r"column `a` has 1 missing values, first at row 1"),
        (pl.DataFrame({"a": [1.0, 2, 3, float("inf")]}), r"column `a` must be finite; .* first at row 3"),
        (pd.DataFrame({"a": [1, "x", 2, 3]}), r"column a with type object"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 4)}), r"column `a` is timestamp.*; features are numbers"),
        (pl.DataFrame({"a": [[1, 2]] * 4}), r"column `a` is .*list.*; features are numbers"),
        (pd.DataFrame([[1, 2]] * 4, columns=["a", "a"]), r"Duplicate column names"),
        (pd.DataFrame(index=range(4)), r"non-empty; got . rows and 0 columns"),
    ],
)
def test_a_column_that_cannot_be_used_is_named(frame, match):
    with pytest.raises(InputError, match=match):
        checked_examples(frame, Y)


def test_text_with_many_values_is_refused_and_a_category_is_not():
    frame = pd.DataFrame({"name": [f"person {k}" for k in range(200)]})
    labels = np.arange(200) % 2
    with pytest.raises(InputError, match=r"column `name` has 200 different texts, more than 100"):
        checked_examples(frame, labels)
    examples = checked_examples(frame.astype("category"), labels)
    assert (examples.features.sum(axis=0) == 1).all()
    many = pd.DataFrame({"name": pd.Categorical([str(k) for k in range(3000)])})
    with pytest.raises(InputError, match=r"column `name` has 3,000\) needs 69 MiB .* `memory=16777216` allows 16 MiB"):
        checked_examples(many, np.arange(3000) % 2, memory=2**24)


def test_other_columns_in_held_out_frames_are_refused():
    for held_out in (FRAMES["polars"].drop("city"), FRAMES["polars"].with_columns(extra=pl.lit(1))):
        with pytest.raises(InputError, match=r"`val_features` must have the columns age, pay, member, city; it has"):
            checked_examples(FRAMES["pandas"], Y, (held_out, Y))
    with pytest.raises(InputError, match=r"`val_features` column `age` must be numbers; it is .*string"):
        checked_examples(FRAMES["pandas"], Y, (FRAMES["polars"].with_columns(age=pl.lit("old")), Y))
