from leanset.problem.constraints import Constraints
from leanset.problem.selection import Outcome, Selection
from leanset.problem.statement import GrowthProblem, PruneProblem

__all__ = ["Constraints", "GrowthProblem", "Outcome", "PruneProblem", "Selection"]
