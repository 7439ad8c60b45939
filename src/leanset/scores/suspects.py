"""Labels that are probably wrong, from what was predicted for the examples."""

import numpy as np

from leanset._arrays import AnyArray, Mask, Matrix, Rows, Vector
from leanset.rows import Column, MemoryRows, RowTable, map_rows, some_entries, sum_rows


def confident_disagreement(probability: Column, labels: Rows, table: RowTable | None = None) -> Mask:
    """Return which examples a network confidently assigns to another class than their label.

    The network is confident of a class if its probability is at least the mean probability of that class over the
    examples with that label. If there are several such classes, the most probable one counts (confident learning,
    Northcutt et al. 2021). The share of such examples estimates the share of wrong labels; hard examples can add to it.

    Parameters
    ----------
    probability : (n, C) softmax probabilities
    labels : (n,) class codes
    table : the rows that the probabilities are derived from, if they are no array

    Examples
    --------
    >>> probability = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.9, 0.1]])
    >>> confident_disagreement(probability, np.array([0, 0, 1, 1])).tolist()
    [False, False, False, True]
    """
    rows = MemoryRows(np.zeros((len(labels), 0))) if table is None else table
    classes = int(labels.max()) + 1
    columns, width = (probability, labels), rows.shape[1] + 3 * classes

    def own_probability(x: AnyArray, p: Matrix, y: Rows) -> tuple[Vector, ...]:
        own: Vector = np.bincount(y, weights=p[np.arange(len(y)), y], minlength=p.shape[1]).astype(np.float64)
        return np.bincount(y, minlength=p.shape[1]).astype(np.float64), own

    members, own = sum_rows(own_probability, rows, *columns, width=width)
    # A class without examples has no threshold, so no example is assigned to it.
    threshold = np.where(members > 0, own / np.maximum(members, 1), np.inf)

    def disagrees(x: AnyArray, p: Matrix, y: Rows) -> Mask:
        confident = np.where(p >= threshold, p, -np.inf)
        return np.asarray(np.isfinite(confident.max(axis=1)) & (confident.argmax(axis=1) != y))

    return map_rows(disagrees, rows, *columns, width=width)


def implausible_labels(probability: Column, labels: Rows, table: RowTable | None = None) -> Mask:
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
    table : the rows that the probabilities are derived from, if they are no array

    Examples
    --------
    >>> other = np.linspace(0.01, 0.49, 12)  # twelve examples that look like class 0, more and more like class 1
    >>> labels = np.zeros(12, int)
    >>> labels[[2, 9, 10, 11]] = 1  # the first of them is like class 0 and labelled 1; near the border that is no surprise
    >>> implausible_labels(np.stack([1 - other, other], axis=1), labels).nonzero()[0].tolist()
    [2]
    """
    rows, found = MemoryRows(np.zeros((len(labels), 0))) if table is None else table, np.zeros(len(labels), dtype=bool)
    width = rows.shape[1] + 2 * (int(labels.max(initial=0)) + 1)
    predicted = map_rows(lambda x, p: p.argmax(axis=1), rows, probability, width=width)
    for k in np.unique(predicted[predicted != labels]):
        members = np.flatnonzero(predicted == k)
        if 2 * np.count_nonzero(labels[members] == k) <= len(members):
            continue
        like = some_entries(probability, rows, members)  # of the examples of one predicted class at a time
        for c in np.unique(labels[members]):
            if c != k:
                least_like_it_first = members[np.argsort(like[:, c], kind="stable")]
                has_it = labels[least_like_it_first] == c
                found[least_like_it_first[has_it & _is_rare(has_it)]] = True
    return found


def _is_rare(has_it: Mask) -> Mask:
    """Return where a label is at most twice as frequent as in the first half, if it gets more frequent along the rows."""
    from scipy.optimize import isotonic_regression  # here, because it takes longer to import than a help text may

    by_mistake = has_it[: -(-len(has_it) // 2)].mean()
    frequency: Vector = isotonic_regression(has_it.astype(np.float64)).x
    return np.asarray(frequency <= 2 * by_mistake)
