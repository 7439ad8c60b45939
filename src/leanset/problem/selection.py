from dataclasses import dataclass
from enum import Enum

from leanset._arrays import Mask


class Outcome(Enum):
    """How a search ended; each member is also the advice to the user."""

    settled = "Settled: the last tenth of the search changed the answer by less than 1 %."
    optimal = "Optimal for the linear prediction: every allowed exchange of the rows that could move was visited."
    quietest = "The examples with the shortest influence vectors were the best set found; no exchange improved on them."
    still_improving = (
        "Still improving when the budget ran out: give the solver more proposals or seconds for a better set."
    )
    scored = "Chosen by a score of each example: nothing was searched for, everything was measured."
    nothing_fits = "No removal was found that respects the constraints and stays within the budget. Raise the budget."


@dataclass(frozen=True)
class Selection:
    """What a solver found.

    Attributes
    ----------
    removed : mask over the problem's rows
    norm : the problem's objective there, recomputed in float64
    start_norm : the objective of the starting set
    outcome : how the search ended
    proposals : moves tried
    seconds : time spent searching
    """

    removed: Mask
    norm: float
    start_norm: float
    outcome: Outcome
    proposals: int
    seconds: float
