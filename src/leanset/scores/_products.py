from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset._threads import in_order, row_chunks

_GRAM_ENTRIES = 2**27  # 1 GiB of float64: about 11,500 rows
_WORTH_IT = 10  # one large product runs some ten times as fast, entry for entry, as one row at a time


@dataclass(frozen=True)
class Products:
    """Inner products of one point with all others; points are measured from their mean, where rounding is least."""

    points: Matrix
    squares: Vector
    gram: Matrix | None

    @classmethod
    def of(cls, features: AnyArray, reads: int) -> "Products":
        """Prepare for `reads` rows of products: all of them at once if they fit into memory and are worth it."""
        points = centred(features)
        n = len(points)
        at_once = n * n <= _GRAM_ENTRIES and reads * _WORTH_IT >= n
        return cls(points, squared_lengths(points), _gram(points) if at_once else None)

    def row(self, nth: int) -> Vector:
        """Return the inner products of one point with all points."""
        return np.asarray(self.points @ self.points[nth] if self.gram is None else self.gram[nth])


def centred(features: AnyArray) -> Matrix:
    """Return the points in float64, measured from their mean."""
    points = np.asarray(features, dtype=np.float64)
    return np.asarray(points - points.mean(axis=0))


def squared_lengths(points: Matrix) -> Vector:
    """Return ‖x‖² for each point."""
    return np.asarray(np.einsum("ij,ij->i", points, points))


def _gram(points: Matrix) -> Matrix:
    gram = np.empty((len(points), len(points)))

    def fill(chunk: slice) -> None:
        np.matmul(points[chunk], points.T, out=gram[chunk])

    for _ in in_order(fill, row_chunks(len(points), len(points))):
        pass
    return gram
