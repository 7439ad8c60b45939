import numpy as np

from leanset._arrays import Mask, Matrix, Rows


def confident_disagreement(probability: Matrix, labels: Rows) -> Mask:
    """Return which examples a network confidently assigns to another class than their label.

    The network is confident of a class if its probability is at least the mean probability of that class over the
    examples with that label. If there are several such classes, the most probable one counts (confident learning,
    Northcutt et al. 2021). The share of such examples estimates the share of wrong labels; hard examples can add to it.

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
    # A class without examples has no threshold, so no example is assigned to it.
    threshold = np.where(members > 0, own / np.maximum(members, 1), np.inf)
    confident = np.where(probability >= threshold, probability, -np.inf)
    assigned = confident.argmax(axis=1)
    return np.asarray(np.isfinite(confident.max(axis=1)) & (assigned != labels))
