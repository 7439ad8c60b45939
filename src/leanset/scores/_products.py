from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset._threads import in_order, row_chunks

_GRAM_ENTRIES = 2**27  # 1 GiB of float64: about 11,500 rows
_WORTH_IT = 10  # per entry, one large product is about ten times as fast as products row by row


@dataclass(frozen=True)
class Products:
    """Inner products of one point with all others. Points are centred, which keeps rounding errors small."""

    points: Matrix
    squares: Vector
    gram: Matrix | None

    @classmethod
    def of(cls, features: AnyArray, reads: int) -> "Products":
        """Prepare to read `reads` rows. All products are computed at once if they fit into memory and it saves time."""
        points = centred(features)
        n = len(points)
        at_once = n * n <= _GRAM_ENTRIES and reads * _WORTH_IT >= n
        return cls(points, squared_lengths(points), _gram(points) if at_once else None)

    def row(self, nth: int) -> Vector:
        """Return the inner products of one point with all points."""
        return np.asarray(self.points @ self.points[nth] if self.gram is None else self.gram[nth])


def centred(features: AnyArray) -> Matrix:
    """Return the points in float64, with their mean subtracted."""
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
