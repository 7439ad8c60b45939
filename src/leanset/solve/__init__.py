from leanset.solve.adaptive import AdaptiveAnnealing
from leanset.solve.driver import Progress, Solver, solve
from leanset.solve.exhaustive import Exhaustive
from leanset.solve.largest_set import largest_set
from leanset.solve.simulated import SimulatedAnnealing
from leanset.solve.weights import Weights, may_be_exact, solve_weights

SOLVERS: dict[str, type[Solver]] = {  # by their names on the command line
    "adaptive": AdaptiveAnnealing,
    "annealing": SimulatedAnnealing,
    "exhaustive": Exhaustive,
}

__all__ = [
    "SOLVERS",
    "AdaptiveAnnealing",
    "Exhaustive",
    "Progress",
    "SimulatedAnnealing",
    "Solver",
    "Weights",
    "largest_set",
    "may_be_exact",
    "solve",
    "solve_weights",
]
