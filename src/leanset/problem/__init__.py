from leanset.problem.best_set import BestSetProblem
from leanset.problem.constraints import Constraints
from leanset.problem.effect import Effect, Paired, Quality, RandomRemovals
from leanset.problem.largest_set import LargestSetProblem
from leanset.problem.outcome import Outcome
from leanset.problem.removal import Removal
from leanset.problem.weights import WeightProblem

__all__ = [
    "BestSetProblem",
    "Constraints",
    "Effect",
    "LargestSetProblem",
    "Outcome",
    "Paired",
    "Quality",
    "RandomRemovals",
    "Removal",
    "WeightProblem",
]
