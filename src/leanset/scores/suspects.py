"""Labels that are probably wrong, from what was predicted for the examples."""

import numpy as np

from leanset._arrays import Mask, Matrix, Rows, Vector


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


def implausible_labels(probability: Matrix, labels: Rows) -> Mask:
    """Return which labels are probably wrong: as often as not, they are there for no reason.

    Take the examples that are predicted to be of class k, and among them the half that is least like class c. How often
    is c their label all the same? That is how often it is so by mistake. Nearer to c, where the classes overlap, c is the
    right label more often. A label c is implausible where it is at most twice as frequent as by mistake; how frequent it
    is follows from the labels of examples that are as much like c (isotonic regression on the probability of c). So
    probabilities are only used for their order: they need not be right.

    Where most examples that are predicted to be of class k are not labelled k, the predictions know less than the labels,
    and nothing is implausible.

    Parameters
    ----------
    probability : (n, C) probabilities, best by models that did not see the example
    labels : (n,) class codes

    Examples
    --------
    >>> other = np.linspace(0.01, 0.49, 12)  # twelve examples that look like class 0, more and more like class 1
    >>> labels = np.zeros(12, int)
    >>> labels[[2, 9, 10, 11]] = 1  # the first of them is like class 0 and labelled 1; near the border that is no surprise
    >>> implausible_labels(np.stack([1 - other, other], axis=1), labels).nonzero()[0].tolist()
    [2]
    """
    predicted, found = probability.argmax(axis=1), np.zeros(len(labels), dtype=bool)
    for k in np.unique(predicted[predicted != labels]):
        members = np.flatnonzero(predicted == k)
        if 2 * np.count_nonzero(labels[members] == k) <= len(members):
            continue
        for c in np.unique(labels[members]):
            if c != k:
                least_like_it_first = members[np.argsort(probability[members, c], kind="stable")]
                has_it = labels[least_like_it_first] == c
                found[least_like_it_first[has_it & _is_rare(has_it)]] = True
    return found


def _is_rare(has_it: Mask) -> Mask:
    """Return where a label is at most twice as frequent as in the first half, if it gets more frequent along the rows."""
    from scipy.optimize import isotonic_regression  # here, because it takes longer to import than a help text may

    by_mistake = has_it[: -(-len(has_it) // 2)].mean()
    frequency: Vector = isotonic_regression(has_it.astype(np.float64)).x
    return np.asarray(frequency <= 2 * by_mistake)
