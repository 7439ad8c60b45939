import sys
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from leanset._errors import InputError

# Shapes by letter: n examples, D design columns (features and bias), C classes, p = (C - 1)·D free coordinates.
Matrix: TypeAlias = NDArray[np.float64]  # (n, D), (C, D) or (p, p)
Vector: TypeAlias = NDArray[np.float64]  # (n,) or (p,)
Vectors32: TypeAlias = NDArray[np.float32]  # (k, p) influence vectors as the solvers read them
Rows: TypeAlias = NDArray[np.int64]  # row numbers of the input
Mask: TypeAlias = NDArray[np.bool_]  # (n,), e.g. True = removed
AnyArray: TypeAlias = NDArray[Any]


def plain_array(values: Any, name: str) -> AnyArray:
    """Return anything array-like as a NumPy array; a torch tensor leaves its gradient and its device behind.

    Masked arrays are refused if an entry is masked: NumPy would give what is under the mask. `name` is for the message.

    Examples
    --------
    >>> plain_array([1, 2], "labels")
    array([1, 2])
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if "bfloat16" in str(values.dtype):  # which NumPy does not have
            values = values.float()
    if isinstance(values, np.ma.MaskedArray) and (hidden := int(np.ma.getmaskarray(values).sum())):
        raise InputError(f"`{name}` has {hidden:,} masked entries; fill them or leave their rows out.")
    return np.asarray(values)


def is_sparse(values: Any) -> TypeGuard[Any]:
    """Return whether a value is one of scipy's sparse matrices."""
    library = sys.modules.get("scipy.sparse")  # whoever has such a matrix has imported it
    return library is not None and bool(library.issparse(values))


def mask_of(rows: AnyArray, size: int) -> Mask:
    """Return a boolean mask that is True at `rows`."""
    mask = np.zeros(size, dtype=bool)
    mask[rows] = True
    return mask


def some_places(places: AnyArray, size: int) -> Rows:
    """Return places that were read from a file; raise ValueError unless they are ascending and in 0..size-1.

    Examples
    --------
    >>> some_places(np.array([0, 2]), 3)
    array([0, 2])
    """
    whole = places.dtype.kind in "iu" and places.ndim == 1
    if not whole or (len(places) and not 0 <= places[0] <= places[-1] < size) or (np.diff(places) <= 0).any():
        raise ValueError(f"places must be ascending whole numbers in 0..{size - 1}")
    return places.astype(np.int64)


def places_among(known: Rows, rows: Rows) -> Rows:
    """Return the positions of row numbers in an ascending list of known ones, -1 for those not in it.

    Examples
    --------
    >>> places_among(np.array([3, 5]), np.array([5, 4]))
    array([ 1, -1])
    """
    place = np.minimum(np.searchsorted(known, rows), len(known) - 1)
    return np.where(known[place] == rows, place, -1)


def rounded_shares(shares: Vector, count: int) -> Rows:
    """Round shares to whole numbers with the same sum, `count`; the largest remainders are rounded up.

    Examples
    --------
    >>> rounded_shares(np.array([1.5, 0.7, 0.8]), 3)
    array([1, 1, 1])
    """
    whole = np.floor(shares + 1e-9).astype(np.int64)
    remainders = np.round(shares - whole, 9)  # keeps equal remainders equal, so that the first wins a tie
    largest = np.argsort(-remainders, kind="stable")[: count - int(whole.sum())]
    whole[largest] += 1
    return whole


def rank_within(groups: Rows) -> Rows:
    """Return how many rows of the same group come before each row.

    Examples
    --------
    >>> rank_within(np.array([1, 0, 1, 1]))
    array([0, 0, 1, 2])
    """
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    rank = np.empty(len(groups), dtype=np.int64)
    rank[by_group] = np.arange(len(groups)) - (np.cumsum(sizes) - sizes)[groups[by_group]]
    return rank


def quantile_bins(values: Vector, groups: Rows, bins: int) -> Rows:
    """Split each group by value into bins of nearly equal size, and number all bins from 0.

    Examples
    --------
    >>> quantile_bins(np.array([5.0, 1.0, 2.0, 9.0]), np.array([0, 0, 1, 1]), 2)
    array([1, 0, 2, 3])
    """
    ascending = np.argsort(values, kind="stable")
    rank = np.empty(len(values), dtype=np.int64)
    rank[ascending] = rank_within(groups[ascending])
    return groups * bins + rank * bins // np.bincount(groups)[groups]


def sum_of_rows(array: AnyArray, rows: Mask | Rows) -> Vector:
    """Return the sum of some rows in float64, without a copy of them all.

    Examples
    --------
    >>> sum_of_rows(np.eye(3, dtype=np.float32), np.array([True, False, True])).tolist()
    [1.0, 0.0, 1.0]
    """
    places, total = np.flatnonzero(rows) if rows.dtype == bool else rows, np.zeros(array.shape[1])
    for start in range(0, len(places), 4096):
        total += array[places[start : start + 4096]].sum(axis=0, dtype=np.float64)
    return total
