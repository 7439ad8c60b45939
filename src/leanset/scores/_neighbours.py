from typing import TYPE_CHECKING

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows
from leanset._threads import in_order, row_chunks
from leanset.scores._products import centred, squared_lengths

if TYPE_CHECKING:
    from scipy import sparse


def nearest_neighbours(features: AnyArray, neighbours: int) -> tuple[Rows, Matrix]:
    """Return the nearest other rows of each row, in no particular order, and their squared distances: both (n, k).

    Exact, from all n² inner products in chunks of rows: seconds for 5,000 rows, a minute or two for 50,000 rows of
    512 columns.
    """
    points = centred(features)
    squares = squared_lengths(points)
    k = min(neighbours, len(points) - 1)

    def nearest(chunk: slice) -> tuple[Rows, Matrix]:
        distance = squares[chunk, None] + squares - 2.0 * (points[chunk] @ points.T)
        own = np.arange(chunk.start, chunk.stop)
        distance[own - chunk.start, own] = np.inf
        found = np.argpartition(distance, k - 1, axis=1)[:, :k]
        return found, np.maximum(np.take_along_axis(distance, found, axis=1), 0.0)

    if k < 1:
        return np.zeros((len(points), 0), dtype=np.int64), np.zeros((len(points), 0))
    rows, distances = zip(*in_order(nearest, row_chunks(len(points), len(points))), strict=True)
    return np.concatenate(rows), np.concatenate(distances)


def neighbour_graph(features: AnyArray, neighbours: int) -> "sparse.csr_array":
    """Return a symmetric graph with weights exp(−d²/mean d²). Two rows are joined if either is among the other's nearest.

    Dividing by the mean squared distance makes the weights independent of the scale of the features.
    """
    from scipy import sparse  # here, because it would slow down every start

    found, squared = nearest_neighbours(features, neighbours)
    n, k = found.shape
    weight = np.exp(-squared / (squared.mean() if squared.any() else 1.0))
    one_way = sparse.csr_array((weight.ravel(), found.ravel(), np.arange(n + 1) * k), shape=(n, n))
    return sparse.csr_array(one_way.maximum(one_way.T))
