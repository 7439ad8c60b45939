"""From a limit on the damage to the largest set: a search over the number removed.

First the sizes of a fixed ladder are evaluated quickly. From the largest one that fits, the search climbs the ladder
with more effort until a size fails, and then halves the gap between the last that fits and the first that does not.

The answer is monotone in the limit, whatever the course of the measured change, because no evaluation depends on the
limit: a looser limit starts at least as high on the ladder and climbs at least as far, and two limits that end in one
gap share all midpoints up to the first one that only the looser limit admits.
"""

from collections.abc import Callable

import numpy as np

LADDER = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)

_RESOLUTION = 0.002  # stop halving when the next step is below this share of the examples


def ladder_counts(n: int, most: int) -> list[int]:
    """Return the ladder's sizes that are possible, ascending and without repeats.

    Examples
    --------
    >>> ladder_counts(100, 55)
    [10, 20, 30, 40, 50]
    """
    return sorted({count for share in LADDER if 0 < (count := round(share * n)) <= most})


def largest_within(
    fits: Callable[[int, float], bool], n: int, most: int, *, quick: float, thorough: float
) -> tuple[int, float]:
    """Return the largest size that fits and the effort it was found with; (0, quick) if none does.

    Parameters
    ----------
    fits : whether the set found for a size with some effort stays within the limit
    n, most : number of examples, and how many may go at most
    quick, thorough : efforts for the ladder, and for climbing and halving

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
    """Return about how many evaluations a search takes."""
    return len(LADDER) + 2 + int(np.ceil(np.log2(0.1 / _RESOLUTION)))
