import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanset import InputError
from leanset.scores import METHODS, Evidence, Method, Score, method_named
from tests.scores.problems import ALL, ON_FEATURES, SCORES, WITHOUT_DRAWS, make_evidence, removed_set

NEEDS_IN_WORDS = {
    "features": "features",
    "errors": "the errors of a head",
    "dynamics": "dynamics",
    "gradient_norm": "gradient norms",
    "influence_norm": "influence norms",
}
SIZES = st.tuples(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 4), st.floats(0, 1))


def each(methods):
    return pytest.mark.parametrize("method", methods, ids=repr)


@each(ALL)
@given(size=SIZES)
def test_a_preference_holds_every_row_once(method, size):
    seed, rows, classes, share = size
    evidence = make_evidence(seed, rows, classes)
    order = method.preference(evidence, int(share * rows), np.random.default_rng(seed))
    assert order.dtype == np.int64
    assert np.sort(order).tolist() == list(range(rows))


@each(ALL)
def test_the_same_generator_gives_the_same_order_and_leaves_the_evidence_alone(method):
    evidence, untouched = make_evidence(1), make_evidence(1)
    first, second = (method.preference(evidence, 12, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    for field in ("groups", "features", "errors", "gradient_norm", "influence_norm"):
        np.testing.assert_array_equal(getattr(evidence, field), getattr(untouched, field))


@each(ALL)
def test_equal_examples_do_not_go_in_the_order_of_the_file(method):
    evidence = make_evidence(0, rows=1, classes=1).take(np.zeros(60, dtype=np.int64))
    gone = removed_set(method, evidence, 30)
    assert gone != set(range(30))
    assert gone != set(range(30, 60))


@each(WITHOUT_DRAWS)
@given(seed=st.integers(0, 10**6), count=st.integers(0, 29))  # if all go, any order will do
def test_the_order_of_rows_does_not_matter(method, seed, count):
    evidence, shuffle = make_evidence(seed), np.random.default_rng(seed).permutation(30)
    shuffled = evidence.take(shuffle)
    if isinstance(method, Score):
        np.testing.assert_allclose(method.scores(shuffled), method.scores(evidence)[shuffle], rtol=1e-9, atol=1e-12)
    else:
        order = shuffle[method.preference(shuffled, count, np.random.default_rng(1))]
        np.testing.assert_array_equal(order, method.preference(evidence, count, np.random.default_rng(0)))


@each(WITHOUT_DRAWS)
def test_the_codes_of_groups_do_not_matter(method):
    evidence, new_code = make_evidence(2), np.array([2, 0, 1])
    renamed = dataclasses.replace(
        evidence, groups=new_code[evidence.groups], errors=evidence.errors[:, np.argsort(new_code)]
    )
    assert removed_set(method, renamed, 12) == removed_set(method, evidence, 12)


@each(ON_FEATURES)
def test_turning_feature_space_changes_nothing(method):
    evidence = make_evidence(3)
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    turned = dataclasses.replace(evidence, features=evidence.features @ turn)
    assert removed_set(method, turned, 12) == removed_set(method, evidence, 12)


@each([method for method in ON_FEATURES if method.name != "grand-last"])
def test_units_and_origin_of_features_do_not_matter(method):
    evidence = make_evidence(3)
    moved = dataclasses.replace(evidence, features=50.0 * evidence.features + 7.0)
    assert removed_set(method, moved, 12) == removed_set(method, evidence, 12)


@each([method for method in SCORES if method.name not in ("forgetting", "moderate")])  # these two have ties
def test_removing_from_the_other_end_reverses_the_order(method):
    evidence, rng = make_evidence(4), np.random.default_rng(0)
    other = dataclasses.replace(method, remove="high" if method.remove == "low" else "low")
    np.testing.assert_array_equal(other.preference(evidence, 9, rng), method.preference(evidence, 9, rng)[::-1])


@each(SCORES)
def test_what_goes_has_the_scores_of_the_named_end(method):
    evidence = make_evidence(5)
    scores = method.scores(evidence)
    order = method.preference(evidence, 10, np.random.default_rng(0))
    assert (np.diff(scores[order]) * (1 if method.remove == "low" else -1) >= 0).all()


@each(SCORES)
def test_an_end_that_does_not_exist_is_refused(method):
    with pytest.raises(
        InputError, match=re.escape(f"`{type(method).__name__}(remove='hard')` must be 'low' or 'high'")
    ):
        dataclasses.replace(method, remove="hard")


@each([method for method in ALL if method.all_needs()])
def test_missing_evidence_is_named_before_work_starts(method):
    first = method.all_needs()[0]
    wanted = " or ".join(NEEDS_IN_WORDS[need] for need in ((first,) if isinstance(first, str) else first))
    with pytest.raises(InputError, match=f"`method='{method.name}'` needs {wanted}, which were not recorded"):
        method.preference(Evidence(groups=np.zeros(3, dtype=int)), 1, np.random.default_rng(0))


@each(SCORES)
def test_scores_asked_for_alone_also_name_what_is_missing(method):
    with pytest.raises(InputError, match="not recorded"):
        method.scores(Evidence(groups=np.zeros(3, dtype=int), dynamics=()))


@each(ALL)
def test_a_count_beyond_the_rows_is_refused(method):
    with pytest.raises(InputError, match=r"`preference\(count=31\)` must lie in 0..30"):
        method.preference(make_evidence(0), 31, np.random.default_rng(0))


@pytest.mark.parametrize("name", METHODS)
def test_a_name_leads_to_its_method(name):
    method = method_named(name)
    assert isinstance(method, Method)
    assert type(method) is METHODS[name]
    assert method.name == name
    assert ">>>" in type(method).__doc__


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"`method='craig'` is unknown; choose from random, .*, d2\."):
        method_named("craig")


def test_evidence_of_different_lengths_is_refused():
    with pytest.raises(
        InputError, match=r"`Evidence\(groups=...\)` has 3 rows, but other fields have \{'features': 2\}"
    ):
        Evidence(groups=np.zeros(3, dtype=int), features=np.zeros((2, 1)))


def test_evidence_that_is_not_finite_is_refused():
    evidence = Evidence(groups=np.zeros(3, dtype=int), gradient_norm=np.array([1.0, np.nan, np.inf]))
    with pytest.raises(InputError, match="no finite score for 2 of 3 rows"):
        method_named("grand").scores(evidence)
