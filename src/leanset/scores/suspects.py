import numpy as np

from leanset._arrays import Mask, Matrix, Rows


def confident_disagreement(probability: Matrix, labels: Rows) -> Mask:
    """Return which examples a network confidently takes for another class than their label says.

    It is confident of a class where its probability is at least the mean probability that it gives that class on the
    examples labelled so; of several such classes, the most probable counts (confident learning, Northcutt et al. 2021).
    The share of such examples is an estimate of the share of wrong labels, on top of what is merely hard.

    Parameters
    ----------
    probability : (n, C) softmax probabilities
    labels : (n,) class codes

    Examples
    --------
    >>> probability = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.9, 0.1]])
    >>> confident_disagreement(probability, np.array([0, 0, 1, 1])).tolist()
    [False, False, False, True]
    """
    rows, classes = np.arange(len(labels)), probability.shape[1]
    members = np.bincount(labels, minlength=classes)
    own = np.bincount(labels, weights=probability[rows, labels], minlength=classes)
    # A class without examples has no threshold, and nobody is taken for it.
    threshold = np.where(members > 0, own / np.maximum(members, 1), np.inf)
    confident = np.where(probability >= threshold, probability, -np.inf)
    taken_for = confident.argmax(axis=1)
    return np.asarray(np.isfinite(confident.max(axis=1)) & (taken_for != labels))
