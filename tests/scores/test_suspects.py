import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leanset.scores.suspects import confident_disagreement


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
