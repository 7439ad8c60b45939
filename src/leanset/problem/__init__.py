from leanset.problem.best_set import BestSetProblem
from leanset.problem.constraints import Constraints
from leanset.problem.largest_set import LargestSetProblem
from leanset.problem.outcome import Outcome
from leanset.problem.removal import Effect, Removal
from leanset.problem.weights import WeightProblem

__all__ = ["BestSetProblem", "Constraints", "Effect", "LargestSetProblem", "Outcome", "Removal", "WeightProblem"]
