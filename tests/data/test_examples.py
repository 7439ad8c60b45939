import numpy as np
import pytest

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


def test_integral_floats_and_booleans_are_accepted():
    assert checked_examples(X, np.array(Y, dtype=float)).labels.tolist() == Y
    assert checked_examples(X, [True, False] * 3).labels.tolist() == [1, 0] * 3


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
        (X, [0, 1, 2, 0, 1, 1.5], r"`labels` must be integers 0..C-1 or strings; got 1.5 at row 5"),
        (X, [0, 1, np.nan, 0, 1, 2], r"1 missing .* first at row 2"),
        (X, ["a", None, "b", "a", "a", "b"], r"row 1 is missing"),
        (X, ["a", 3, "b", "a", "a", object()], r"row 1 is 3"),
        (X, np.array([b"\xff", b"a"] * 3), r"not UTF-8"),
        (X, [0, 1, 3, 0, 1, 3], r"without gaps; .*first: 2"),
        (X, [0, -1, 1, 0, 1, 1], r"got -1 at row 1"),
        (X, [0] * 6, r"at least two classes; every example is of class '0'"),
        (X, [0, 1, 2, 3, 4, 9], r"10 classes, but there are only 6 examples"),
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
