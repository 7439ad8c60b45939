"""A map of the feature space: two coordinates for each of a sample of rows."""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from leanset._arrays import Matrix
from leanset.report.page.neighbours import main_directions

_LEAST_FOR_UMAP = 50  # it needs some neighbours


@dataclass(frozen=True)
class Landscape:
    """Coordinates of points, and how they were made."""

    coordinates: Matrix
    how: str


def landscape(points: Matrix, seed: int) -> Landscape:
    """Lay points out in the plane, by UMAP if it is installed, otherwise by principal components.

    Examples
    --------
    >>> made = landscape(np.array([[0.0, 0, 1], [0, 4, 0], [9, 0, 0]]), 0)
    >>> made.coordinates.shape
    (3, 2)
    """
    centred = points - points.mean(axis=0)
    if find_spec("umap") is not None and len(points) >= _LEAST_FOR_UMAP:
        return Landscape(
            _by_umap(centred, seed), "UMAP: neighbours stay neighbours; distances between groups mean little"
        )
    flat = main_directions(centred, 2)
    if flat.shape[1] < 2:
        flat = np.column_stack([flat, np.zeros(len(flat))])
    total = float((centred**2).sum())
    part = float((flat**2).sum()) / total if total else 1.0
    return Landscape(flat, f"PCA: the two directions in which rows differ most, {100 * part:.0f} % of all differences")


def _by_umap(points: Matrix, seed: int) -> Matrix:
    import umap

    made: Matrix = umap.UMAP(random_state=seed, n_jobs=1).fit_transform(points)
    return made
