import numpy as np

from leanset._arrays import Mask, Rows
from leanset._errors import InputError
from leanset._rng import stream


def drawn_aside(groups: Rows, share: float, seed: int) -> Mask:
    """Draw a share of each group to hold out.

    Each group keeps at least one example and, if it has more than one, gives at least one away.

    Examples
    --------
    >>> groups = np.arange(10) % 2
    >>> np.bincount(groups[drawn_aside(groups, 0.2, seed=0)]).tolist()
    [1, 1]
    """
    if not 0 < share < 1:
        raise InputError(f"`held_out_share={share}` must lie in (0, 1).")
    rng, aside = stream(seed, "held out"), np.zeros(len(groups), dtype=bool)
    for group in range(int(groups.max()) + 1):
        members = rng.permutation(np.flatnonzero(groups == group))
        aside[members[: min(max(1, round(share * len(members))), len(members) - 1)]] = True
    return aside
