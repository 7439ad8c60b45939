import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from leanset.scores.suspects import confident_disagreement, implausible_labels


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(2, 5))
def test_disputed_labels_are_those_of_the_definition(seed, n, classes):
    rng = np.random.default_rng(seed)
    probability, labels = rng.dirichlet(np.ones(classes), n), rng.integers(0, classes, n)
    means = {c: probability[labels == c, c].mean() for c in set(labels.tolist())}
    for row, disputed in enumerate(confident_disagreement(probability, labels)):
        confident = [c for c in means if probability[row, c] >= means[c]]
        best = max(confident, key=lambda c: probability[row, c], default=labels[row])
        assert disputed == (best != labels[row])


def test_the_share_grows_with_the_share_of_wrong_labels():
    rng = np.random.default_rng(0)
    right = rng.integers(0, 4, 2000)
    shares = []
    for wrong in (0.0, 0.2, 0.4):
        labels = np.where(rng.random(2000) < wrong, (right + 1 + rng.integers(0, 3, 2000)) % 4, right)
        # A network that has learnt the classes and not the mistakes, as sure as the labels let it be.
        probability = np.full((2000, 4), (wrong + 0.04) / 3 / 1.04)
        probability[np.arange(2000), right] = (1 - wrong) / 1.04
        shares.append(confident_disagreement(probability, labels).mean())
    assert shares[0] == 0
    np.testing.assert_allclose(shares[1:], [0.2, 0.4], atol=0.03)


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(2, 4))
def test_implausible_labels_are_those_of_the_definition(seed, n, classes):
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(classes), n)
    labels = np.where(rng.random(n) < 0.3, rng.integers(0, classes, n), probability.argmax(axis=1))
    found = implausible_labels(probability, labels)
    for row in range(n):
        k, c = probability[row].argmax(), labels[row]
        alike = [i for i in range(n) if probability[i].argmax() == k]
        most_are_k = np.mean([labels[i] == k for i in alike]) > 0.5
        expected = False
        if c != k and most_are_k:
            alike.sort(key=lambda i: probability[i, c])
            has_it = np.array([float(labels[i] == c) for i in alike])
            frequency = IsotonicRegression().fit(np.arange(len(alike)), has_it).predict([alike.index(row)])[0]
            by_mistake = has_it[: (len(alike) + 1) // 2].mean()
            if np.isclose(frequency, 2 * by_mistake):
                continue  # rounding decides
            expected = frequency < 2 * by_mistake
        assert found[row] == expected


def two_classes(distance, wrong, rng):
    """Points of two normal classes, with the probabilities of a head that saw many such labels."""
    right = rng.integers(0, 2, 4000)
    place = rng.normal(size=4000) + distance * (right - 0.5)
    is_wrong = rng.random(4000) < wrong
    of_one = wrong + (1 - 2 * wrong) / (1 + np.exp(-distance * place))
    return np.stack([1 - of_one, of_one], axis=1), np.where(is_wrong, 1 - right, right), is_wrong


def test_classes_that_overlap_are_not_taken_for_mistakes():
    probability, labels, _ = two_classes(2, 0.0, np.random.default_rng(0))
    assert (probability.argmax(axis=1) != labels).mean() > 0.14
    assert implausible_labels(probability, labels).mean() < 0.03


def test_most_mistakes_are_found_where_classes_do_not_overlap():
    probability, labels, is_wrong = two_classes(6, 0.1, np.random.default_rng(0))
    found = implausible_labels(probability, labels)
    assert found[is_wrong].mean() > 0.9
    assert is_wrong[found].mean() > 0.9


def test_only_the_order_of_probabilities_counts():
    probability, labels, _ = two_classes(3, 0.1, np.random.default_rng(1))
    sharper = probability**3 / (probability**3).sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(implausible_labels(probability, labels), implausible_labels(sharper, labels))


def test_predictions_that_know_nothing_accuse_nobody():
    rng = np.random.default_rng(0)
    assert not implausible_labels(rng.dirichlet(np.ones(10), 2000), rng.integers(0, 10, 2000)).any()
