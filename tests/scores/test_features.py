"""Methods that look at features, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from leanset import InputError
from leanset._threads import working_threads
from leanset.scores import AUM, D2, EL2N, DynUnc, Evidence, GraNd, Herding, KCenterGreedy, LastLayerGraNd, Moderate
from leanset.scores import _products as products
from leanset.scores._neighbours import nearest_neighbours
from tests.scores.problems import make_evidence

CASES = given(seed=st.integers(0, 10**6), count=st.integers(0, 30))


def kept_in_order(method, evidence, count):
    return method.preference(evidence, count, np.random.default_rng(0))[count:][::-1].tolist()


def herded(h, keep):
    chosen = []
    for k in range(1, keep + 1):
        left = [i for i in range(len(h)) if i not in chosen]
        chosen.append(min(left, key=lambda i: np.linalg.norm(h.mean(axis=0) - (h[chosen].sum(axis=0) + h[i]) / k)))
    return chosen


def farthest_first(h, keep):
    chosen = [int(np.argmin([np.linalg.norm(row - h.mean(axis=0)) for row in h]))][:keep]
    while len(chosen) < keep:
        left = [i for i in range(len(h)) if i not in chosen]
        chosen.append(max(left, key=lambda i: min(np.linalg.norm(h[i] - h[j]) for j in chosen)))
    return chosen


def d2_by_matrix(h, difficulty, keep, neighbours, gamma_forward, gamma_reverse):
    n = len(h)
    squared = np.array([[np.sum((a - b) ** 2) for b in h] for a in h])
    nearest = [[j for j in np.argsort(squared[i]) if j != i][:neighbours] for i in range(n)]
    unit = np.mean([squared[i, j] for i in range(n) for j in nearest[i]])
    joined = np.array([[j in nearest[i] or i in nearest[j] for j in range(n)] for i in range(n)])
    level = (difficulty - difficulty.min()) / (difficulty.max() - difficulty.min())
    value = level + (joined * np.exp(-gamma_forward * squared / unit)) @ level
    chosen = []
    for _ in range(keep):
        best = max((i for i in range(n) if i not in chosen), key=lambda i: value[i])
        chosen.append(best)
        for j in range(n):
            if joined[best, j] and j not in chosen:
                value[j] -= np.exp(-gamma_reverse * squared[best, j] / unit) * value[best]
    return chosen, value


@CASES
def test_herding_is_the_greedy_match_of_the_mean(seed, count):
    evidence = make_evidence(seed, classes=1)
    assert kept_in_order(Herding(), evidence, count) == herded(evidence.features, 30 - count)


def test_herding_works_class_by_class():
    evidence, count = make_evidence(3, rows=33), 12
    kept = kept_in_order(Herding(), evidence, count)
    for c in range(3):
        rows = np.flatnonzero(evidence.groups == c)
        assert [row for row in kept if row in rows] == rows[herded(evidence.features[rows], 7)].tolist()


@CASES
def test_k_center_goes_to_the_farthest_each_time(seed, count):
    evidence = make_evidence(seed)
    assert kept_in_order(KCenterGreedy(), evidence, count) == farthest_first(evidence.features, 30 - count)


def test_k_center_lets_go_first_what_is_nearest_to_a_kept_example():
    evidence, count = make_evidence(4), 20
    order = KCenterGreedy().preference(evidence, count, np.random.default_rng(0))
    kept = evidence.features[order[count:]]
    distances = [min(np.linalg.norm(evidence.features[i] - h) for h in kept) for i in order[:count]]
    assert distances == sorted(distances)


@pytest.mark.parametrize("method", [Herding(), KCenterGreedy(), D2(score=EL2N())])
def test_chunks_and_threads_do_not_matter(method, monkeypatch):
    evidence = make_evidence(9, rows=200, classes=1)
    whole = kept_in_order(method, evidence, 80)
    monkeypatch.setattr("leanset._threads._CHUNK_ENTRIES", 1)  # chunks of 64 rows
    for threads in (1, 3):
        with working_threads(threads):
            assert kept_in_order(method, evidence, 80) == whole


@pytest.mark.parametrize("method", [Herding(), KCenterGreedy()])
@pytest.mark.parametrize("count", [3, 28])
def test_products_row_by_row_give_the_same_order_as_all_at_once(method, count, monkeypatch):
    evidence = make_evidence(5)
    at_once = kept_in_order(method, evidence, count)
    monkeypatch.setattr(products, "_GRAM_ENTRIES", 0)
    assert kept_in_order(method, evidence, count) == at_once


@CASES
def test_d2_is_its_definition_on_a_dense_matrix(seed, count):
    evidence, options = make_evidence(seed), {"neighbours": 4, "gamma_forward": 0.7, "gamma_reverse": 0.2}
    expected, value = d2_by_matrix(evidence.features, evidence.gradient_norm, 30 - count, **options)
    order = D2(score=GraNd(), **options).preference(evidence, count, np.random.default_rng(0))
    assert order[count:][::-1].tolist() == expected
    assert (np.diff(value[order[:count]]) >= -1e-12).all()  # of those left out, the least wanted goes first


def test_d2_sees_low_margins_as_hard():
    evidence = make_evidence(6)
    hard = -AUM().scores(evidence)
    expected, _ = d2_by_matrix(evidence.features, hard, 15, neighbours=3, gamma_forward=1.0, gamma_reverse=1.0)
    assert kept_in_order(D2(score=AUM(), neighbours=3), evidence, 15) == expected


@pytest.mark.parametrize("neighbours", [1, 7, 200])
def test_neighbours_are_those_of_scikit_learn(neighbours, monkeypatch):
    monkeypatch.setattr("leanset._threads._CHUNK_ENTRIES", 1)  # chunks of 64 rows
    points = np.random.default_rng(0).normal(size=(150, 6)) + 100.0
    rows, squared = nearest_neighbours(points, neighbours)
    k = min(neighbours, 149)
    expected, expected_rows = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    np.testing.assert_array_equal(np.sort(rows, axis=1), np.sort(expected_rows, axis=1))
    np.testing.assert_allclose(np.sort(squared, axis=1), expected**2, rtol=1e-8)


def test_moderate_is_the_distance_from_the_median_distance():
    evidence = make_evidence(7, rows=31)
    expected = np.empty(31)
    for c in range(3):
        rows = [i for i in range(31) if evidence.groups[i] == c]
        centre = sum(evidence.features[i] for i in rows) / len(rows)
        distances = {i: np.linalg.norm(evidence.features[i] - centre) for i in rows}
        for i in rows:
            expected[i] = abs(distances[i] - np.median(list(distances.values())))
    np.testing.assert_allclose(Moderate().scores(evidence), expected, atol=1e-12)


def test_last_layer_gradient_norm_is_that_of_the_outer_product():
    evidence = make_evidence(8)
    expected = [
        np.linalg.norm(np.outer(error, [*h, 1.0])) for error, h in zip(evidence.errors, evidence.features, strict=True)
    ]
    np.testing.assert_allclose(LastLayerGraNd().scores(evidence), expected)


def test_residuals_of_a_regression_are_errors_too():
    rng = np.random.default_rng(0)
    residual, features = rng.normal(size=(20, 1)), rng.normal(size=(20, 3))
    evidence = Evidence(groups=np.arange(20) // 5, features=features, errors=residual)
    np.testing.assert_allclose(EL2N().scores(evidence), np.abs(residual[:, 0]))
    length = np.linalg.norm(np.column_stack([features, np.ones(20)]), axis=1)
    np.testing.assert_allclose(LastLayerGraNd().scores(evidence), np.abs(residual[:, 0]) * length)


@pytest.mark.parametrize("method", [Herding(), KCenterGreedy(), Moderate(), D2(score=EL2N())])
def test_float32_features_of_identical_examples_are_no_trouble(method):
    one = make_evidence(0, rows=1, classes=1)
    copies = Evidence(
        groups=np.zeros(8, int), features=np.full((8, 3), 1e3, np.float32), dynamics=one.take(np.zeros(8, int)).dynamics
    )
    assert sorted(method.preference(copies, 5, np.random.default_rng(0))) == list(range(8))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"neighbours": 0}, r"`D2\(neighbours=0\)`"),
        ({"gamma_forward": -1.0}, r"`D2\(gamma_forward=-1.0\)` must be a finite number ≥ 0"),
        ({"gamma_reverse": float("nan")}, r"`D2\(gamma_reverse=nan\)`"),
        ({"score": DynUnc()}, r"must be a score that measures difficulty: `AUM\(\)`"),
        ({"score": Herding()}, r"must be a score that measures difficulty: `AUM\(\)`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        D2(**options)
