import numpy as np

from leanset._arrays import AnyArray, Mask, Matrix, Rows, Vector
from leanset.rows import Column, MemoryRows, RowTable, map_rows, sum_rows


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
