from leanset.solve.adaptive import AdaptiveAnnealing
from leanset.solve.driver import Solver, solve
from leanset.solve.exhaustive import Exhaustive
from leanset.solve.growth import grow
from leanset.solve.simulated import SimulatedAnnealing

__all__ = ["AdaptiveAnnealing", "Exhaustive", "SimulatedAnnealing", "Solver", "grow", "solve"]
