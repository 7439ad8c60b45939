"""From a limit on the damage to the largest set: a search over the number removed.

Sizes on a fixed ladder are evaluated first, then the gap above the largest one that fits is halved again and again.
The evaluation of a size does not depend on the limit, and two limits share all midpoints until the first one at which
their answers differ; there the stricter limit goes to smaller sizes. So the answer is monotone in the limit, whatever
the course of the measured change.
"""

from collections.abc import Callable

import numpy as np

from leanset.pipeline.evaluate import Evaluation

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
    limit: float,
    measure: Callable[[Evaluation], float],
    evaluated: Callable[[int], Evaluation],
    n: int,
    most: int,
) -> Evaluation:
    """Return the largest evaluated set whose measure stays within the limit; an empty one if none does.

    Parameters
    ----------
    limit : what the measure may be at most
    measure : the measured quantity of an evaluation
    evaluated : the (cached) evaluation of a size
    n, most : number of examples, and how many may go at most
    """
    sizes = [0, *ladder_counts(n, most), most]
    fits = max(size for size in sizes if measure(evaluated(size)) <= limit)
    above = min((size for size in sizes if size > fits), default=fits)
    while above - fits > 1 and (fits == 0 or above - fits > _RESOLUTION * n):
        middle = (fits + above) // 2
        if measure(evaluated(middle)) <= limit:
            fits = middle
        else:
            above = middle
    return evaluated(fits)


def expected_evaluations(n: int) -> int:
    """Return about how many sizes a search visits."""
    return len(LADDER) + 1 + int(np.ceil(np.log2(max(2.0, 0.1 / _RESOLUTION))))
