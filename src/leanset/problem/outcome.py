from enum import Enum


class Outcome(Enum):
    """How a search ended; the value of each member is a message with advice for the user.

    Examples
    --------
    >>> Outcome.nothing_fits.value
    'No removal was found that satisfies the constraints and the budget. Raise the budget.'
    """

    settled = "Settled: the last tenth of the search changed the answer by less than 1 %."
    optimal = "Optimal for the linear prediction: every allowed set of the movable rows was evaluated."
    quietest = "The examples with the shortest influence vectors were the best set found; no exchange improved on them."
    random = (
        "No chosen set did better than a random one on held-out training examples, so this is a random one. "
        "Weights (`weights=True`) may do better."
    )
    floor = (
        "Stopped at the floor: ten examples of each class, and one for each free weight of the head or a tenth of all "
        "examples, are kept whatever the budget."
    )
    still_improving = (
        "Still improving when the search ended: give the solver more proposals or seconds for a better set."
    )
    same_head = "The weights reproduce the head: training on the kept examples with them gives the same head."
    nearest_head = (
        "No weights within their bounds reproduce the head; these come nearest. Keep more, or widen the bounds."
    )
    scored = "Chosen by a method of the literature: there was no search, but the effect was measured."
    nothing_fits = "No removal was found that satisfies the constraints and the budget. Raise the budget."
