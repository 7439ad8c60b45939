"""Which rows are alike: the nearest kept neighbour of a removed row, and pairs that are nearly the same."""

from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray, Mask, Matrix, Rows, Vector
from leanset.report.page.facts import Pictures

_DIRECTIONS = 6  # candidates are looked for along the main directions; a tree is fast in so few and useless in many
_CANDIDATES = 6
_NEARLY_SAME = 0.25  # of the usual distance to the nearest neighbour
_SIDE = 8  # pixels of the small copies by which images are compared


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows, closest first, with their distances as shares of the usual distance between neighbours."""

    first: Rows
    second: Rows
    distance: Vector

    def __len__(self) -> int:
        return len(self.first)

    def where(self, wanted: Mask) -> "Pairs":
        """Return some of the pairs."""
        return Pairs(self.first[wanted], self.second[wanted], self.distance[wanted])


NO_PAIRS = Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


def scaled(features: AnyArray, standardize: bool) -> Matrix:
    """Return centred features, each divided by its spread if the head saw them so.

    Examples
    --------
    >>> scaled(np.array([[0.0, 5.0], [2.0, 5.0]]), True)
    array([[-1.,  0.],
           [ 1.,  0.]], dtype=float32)
    """
    single = np.asarray(features, dtype=np.float32)
    centred: Matrix = single - single.mean(axis=0)
    if not standardize:
        return centred
    spread = centred.std(axis=0)
    return centred / np.where(spread > 0, spread, 1)


def main_directions(points: Matrix, directions: int) -> Matrix:
    """Return the coordinates along the directions in which centred points differ most.

    Examples
    --------
    >>> main_directions(np.array([[0.0, -2.0], [0.0, 2.0]]), 1).round(6).tolist()
    [[-2.0], [2.0]]
    """
    some = points[:: max(1, len(points) // 5000)]  # the directions of a large set are those of a part of it
    _, _, axes = np.linalg.svd(some, full_matrices=False)
    turned = axes * np.where(axes.sum(axis=1, keepdims=True) < 0, -1, 1)  # the sign of an axis is otherwise arbitrary
    return points @ turned[:directions].T  # type: ignore[no-any-return]


def nearest_kept(points: Matrix, kept: Mask) -> Pairs:
    """Return each removed row with its nearest kept row, closest pairs first.

    The neighbour is the nearest of a few candidates, which are nearest along the main directions.

    Examples
    --------
    >>> pairs = nearest_kept(np.array([[0.0], [1.0], [5.0]]), np.array([True, False, True]))
    >>> pairs.first.tolist(), pairs.second.tolist()
    ([1], [0])
    """
    removed, stay = np.flatnonzero(~kept), np.flatnonzero(kept)
    if not len(removed) or not len(stay):
        return NO_PAIRS
    return _closest(points, removed, stay, own=False)


def near_duplicates(points: Matrix) -> Pairs:
    """Return pairs of rows that are far closer than neighbours usually are, closest first; each pair once.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [1.001], [2.0], [3.0], [4.0]])
    >>> pairs = near_duplicates(points)
    >>> pairs.first.tolist(), pairs.second.tolist()
    ([1], [2])
    """
    if len(points) < 3:
        return NO_PAIRS
    everyone = np.arange(len(points))
    pairs = _closest(points, everyone, everyone, own=True)
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    _, places = np.unique(low * len(points) + high, return_index=True)
    once = Pairs(low, high, pairs.distance).where(np.isin(everyone, places))
    return once.where(once.distance <= _NEARLY_SAME)


def _closest(points: Matrix, of: Rows, among: Rows, *, own: bool) -> Pairs:
    from scipy.spatial import cKDTree  # here, because only pages need it and it would slow down every start

    coordinates = main_directions(points, _DIRECTIONS)
    wanted = min(_CANDIDATES + own, len(among))
    _, found = cKDTree(coordinates[among]).query(coordinates[of], k=wanted)
    candidates = among[found.reshape(len(of), wanted)]
    squared = np.stack([((points[of] - points[column]) ** 2).sum(axis=1) for column in candidates.T], axis=1)
    squared[candidates == of[:, None]] = np.inf
    best = squared.argmin(axis=1)
    distance = np.sqrt(squared[np.arange(len(of)), best].astype(np.float64))
    second = candidates[np.arange(len(of)), best]
    usual = float(np.median(distance[np.isfinite(distance)])) if np.isfinite(distance).any() else 1.0
    order = np.argsort(distance, kind="stable")
    return Pairs(of[order], second[order], distance[order] / (usual or 1.0))


def small_copies(pictures: Pictures, places: Rows) -> Matrix:
    """Return the images as vectors of a few pixels, centred: near-duplicates of images are found in these.

    Examples
    --------
    >>> small_copies(np.zeros((2, 1, 16, 16), np.uint8), np.arange(2)).shape
    (2, 64)
    """
    _, channels, height, width = pictures.shape
    side = min(_SIDE, height, width)
    rows, columns = (np.arange(side + 1) * length // side for length in (height, width))
    parts = []
    for start in range(0, len(places), 4096):  # a part at a time, because these are four times the size of the pixels
        pixels = pictures[places[start : start + 4096]].astype(np.float32)
        means = np.add.reduceat(np.add.reduceat(pixels, rows[:-1], axis=2), columns[:-1], axis=3)
        parts.append(means.reshape(len(pixels), channels * side * side))
    area = np.outer(np.diff(rows), np.diff(columns)).ravel()
    vectors = np.concatenate(parts) / np.tile(area, channels)
    return vectors - vectors.mean(axis=0)  # type: ignore[no-any-return]
