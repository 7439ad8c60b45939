from enum import Enum


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
