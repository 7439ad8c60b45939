"""Search for the largest number of examples whose removal stays within a limit.

First the sizes of a fixed ladder are evaluated quickly. From the largest one that fits, the search climbs the ladder
with more effort until a size fails, and then bisects between the last that fits and the first that does not.

The result is monotone in the limit, even if the measured change is not monotone in the size, because no evaluation
depends on the limit: a looser limit starts at least as high on the ladder and climbs at least as far, and two limits
that end in the same gap share all midpoints up to the first one that only the looser limit allows.
"""

from collections.abc import Callable

import numpy as np

LADDER = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)

_RESOLUTION = 0.002  # stop the bisection when the gap is below this share of the examples


def ladder_counts(n: int, most: int) -> list[int]:
    """Return the possible sizes of the ladder, ascending and without repeats.

    Examples
    --------
    >>> ladder_counts(100, 55)
    [10, 20, 30, 40, 50]
    """
    return sorted({count for share in LADDER if 0 < (count := round(share * n)) <= most})


def largest_within(
    fits: Callable[[int, float], bool], n: int, most: int, *, quick: float, thorough: float
) -> tuple[int, float]:
    """Return the largest size that fits and the effort that found it; (0, quick) if none fits.

    Parameters
    ----------
    fits : whether the set found for a size and an effort stays within the limit
    n, most : number of examples, and how many may be removed at most
    quick, thorough : efforts for the ladder, and for climbing and bisecting

    Examples
    --------
    >>> largest_within(lambda size, effort: size <= 437, 1000, 990, quick=0.1, thorough=0.3)
    (437, 0.3)
    """
    sizes = [*ladder_counts(n, most), most]
    best, effort = max([(size, quick) for size in sizes if fits(size, quick)], default=(0, quick))
    above = most
    for size in (size for size in sizes if size > best):
        above = size
        if not fits(size, thorough):
            break
        best, effort = size, thorough
    while above - best > 1 and (best == 0 or above - best > _RESOLUTION * n):
        middle = (best + above) // 2
        if fits(middle, thorough):
            best, effort = middle, thorough
        else:
            above = middle
    return best, effort


def expected_evaluations() -> int:
    """Return the approximate number of evaluations of a search."""
    return len(LADDER) + 2 + int(np.ceil(np.log2(0.1 / _RESOLUTION)))
