"""Find the training examples that can go, how many, and what it will cost."""

from leanset._errors import DivergenceError, InputError, LeansetError, MissingExtraError, RunFolderError
from leanset._version import __version__
from leanset.certify import Certificate, Check
from leanset.influence import Cholesky, ConjugateGradients, Kronecker, LiSSA
from leanset.pipeline import Coverage, Frontier, FrontierPoint, PruneResult, load, prune, verify
from leanset.problem import Outcome
from leanset.solve import AdaptiveAnnealing, Exhaustive, SimulatedAnnealing

__all__ = [
    "AdaptiveAnnealing",
    "Certificate",
    "Check",
    "Cholesky",
    "ConjugateGradients",
    "Coverage",
    "DivergenceError",
    "Exhaustive",
    "Frontier",
    "FrontierPoint",
    "InputError",
    "Kronecker",
    "LeansetError",
    "LiSSA",
    "MissingExtraError",
    "Outcome",
    "PruneResult",
    "RunFolderError",
    "SimulatedAnnealing",
    "__version__",
    "load",
    "prune",
    "verify",
]
