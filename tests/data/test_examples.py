import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from leanset import InputError
from leanset.data import checked_examples, fingerprint

X = np.arange(12.0).reshape(6, 2)
Y = [0, 1, 2, 0, 1, 2]


def test_strings_are_mapped_in_sorted_order():
    examples = checked_examples(X, ["b", "a", "c", "b", "a", "c"])
    assert examples.classes == ("a", "b", "c")
    assert examples.labels.tolist() == [1, 0, 2, 1, 0, 2]


def test_validation_strings_use_the_training_codes():
    examples = checked_examples(X, ["b", "a", "c", "b", "a", "c"], (X[:2], ["c", "b"]))
    assert examples.validation.labels.tolist() == [2, 1]


def test_ten_or_more_integer_classes_keep_their_numbers_in_validation():  # "10" sorts before "2" as text
    labels = np.arange(12)
    examples = checked_examples(np.ones((12, 1)), labels, (np.ones((3, 1)), [10, 2, 11]))
    assert examples.validation.labels.tolist() == [10, 2, 11]


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ((-1, 1), ("-1", "1")),
        ((1, 2), ("1", "2")),
        ((2.0, 10.0, 7.0), ("2", "7", "10")),
        ((False, True), ("False", "True")),
        (("b", "a", "c"), ("a", "b", "c")),
        ((b"b", b"a"), ("a", "b")),
    ],
)
@pytest.mark.parametrize("form", ["array", "list", "column", "objects", "series", "frame", "category", "polars"])
def test_labels_of_any_values_and_form_become_codes_in_order(values, classes, form):
    labels = np.array(values)[np.arange(6) % len(values)]
    given = {
        "array": lambda: labels,
        "list": labels.tolist,
        "column": lambda: labels[:, None],
        "objects": lambda: labels.astype(object),
        "series": lambda: pd.Series(labels),
        "frame": lambda: pd.DataFrame({"y": labels}),
        "category": lambda: pd.Series(labels).astype("category"),
        "polars": lambda: pl.DataFrame({"y": labels.tolist()}),
    }[form]()
    if labels.dtype.kind == "S" and form not in ("array", "list", "column"):
        pytest.skip("frames hold text, not bytes")
    examples = checked_examples(X, given, (X[:2], given[:2]))
    assert examples.classes == classes
    assert [classes[code] for code in examples.labels] == [
        str(value.decode() if isinstance(value, bytes) else int(value) if isinstance(value, float) else value)
        for value in labels.tolist()
    ]
    assert examples.validation.labels.tolist() == examples.labels[:2].tolist()


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_labels_are_named_whatever_their_type(missing):
    labels = np.array(["a", "b", missing, "a", "b", "a"], dtype=object)
    with pytest.raises(InputError, match="row 2 is missing"):
        checked_examples(X, labels)


def test_tensors_that_require_grad_are_taken_as_they_are():
    torch = pytest.importorskip("torch")
    for kind in (torch.float64, torch.float32, torch.bfloat16):
        features = torch.tensor(X, dtype=kind, requires_grad=True)
        examples = checked_examples(features, torch.tensor(Y), (features, torch.tensor(Y)))
        assert examples.features.tolist() == X.tolist()
        assert examples.validation.labels.tolist() == Y
    numbers = checked_examples(X, torch.tensor(X[:, 0], requires_grad=True), targets="numbers")
    assert numbers.labels[:, 0].tolist() == X[:, 0].tolist()


@pytest.mark.parametrize(
    ("features", "labels", "match"),
    [
        (np.where(X == 5, np.nan, X), Y, r"`features` must be finite; 1 entries .* first at row 2"),
        (np.where(X > 8, np.inf, X), Y, r"3 entries .* in 2 rows, first at row 4"),
        (X, Y[:5], r"`labels` must contain one label for each of the 6 rows"),
        (X[:, 0], Y, r"`features` must be a non-empty \(n, d\) array; got shape \(6,\)"),
        (X[:0], [], r"non-empty"),
        ([[1.0], [2.0, 3.0]], [0, 1], r"rectangular"),
        (X.astype(str), Y, r"`features` must contain real numbers"),
        (X, [0, 1, 2, 0, 1, 1.5], r"`labels` must be whole numbers, booleans or strings; got 1.5 at row 5"),
        (X, [0, 1, np.nan, 0, 1, 2], r"1 missing .* first at row 2"),
        (X, ["a", None, "b", "a", "a", "b"], r"row 1 is missing"),
        (X, ["a", 3, "b", "a", "a", object()], r"row 1 is 3"),
        (X, np.array([b"\xff", b"a"] * 3), r"not UTF-8"),
        (X, np.array(Y).astype("datetime64[D]"), r"whole numbers, booleans or strings; got dtype datetime64"),
        (X, [0] * 6, r"at least two classes; every example is of class '0'"),
    ],
)
def test_bad_input_is_named(features, labels, match):
    if isinstance(labels, list) and any(isinstance(v, str) or v is None for v in labels):
        labels = np.array(labels, dtype=object)
    with pytest.raises(InputError, match=match):
        checked_examples(features, labels)


@pytest.mark.parametrize(
    ("validation", "match"),
    [
        ((X[:, :1], Y), r"`val_features` must have the 2 columns"),
        ((X, [0, 1, 2, 0, 1, 7]), r"`val_labels` row 5 is '7'"),
        ((X, Y[:2]), r"`val_labels` must contain one label for each of the 6 rows of `val_features`"),
        (X, r"must be a pair"),
    ],
)
def test_bad_validation_is_named(validation, match):
    with pytest.raises(InputError, match=match):
        checked_examples(X, Y, validation)


def test_fingerprint_sees_every_part():
    base = fingerprint(checked_examples(X, Y))
    assert base == fingerprint(checked_examples(X.copy(order="F"), np.array(Y)))
    others = [
        checked_examples(X + 1e-12 * (X == 3), Y),
        checked_examples(X, Y[::-1]),
        checked_examples(X, list("abcabc")),
        checked_examples(X, Y, (X, Y)),
        checked_examples(X.astype(np.float32), Y),
    ]
    assert len({base, *map(fingerprint, others)}) == len(others) + 1


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_features_and_labels_are_those_of_the_dense_arrays(make):
    dense, tags = np.where(X % 3 == 0, X, 0.0), (X % 3 == 0).astype(int)
    given = checked_examples(make(dense), make(tags), (make(dense), make(tags)), "labels")
    assert fingerprint(given) == fingerprint(checked_examples(dense, tags, (dense, tags), "labels"))


def test_sparse_features_become_dense_only_within_the_memory():
    wide = sparse.random(1000, 2100, density=1e-3, random_state=0)
    message = r"`features`, a sparse matrix of 1,000 × 2,100, needs 16 MiB .* `memory=16777216` allows 16 MiB"
    with pytest.raises(InputError, match=message):
        checked_examples(wide, np.arange(1000) % 2, memory=2**24)
    assert checked_examples(wide, np.arange(1000) % 2, memory=2**25).features.shape == wide.shape
