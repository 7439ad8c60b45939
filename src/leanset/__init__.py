"""Find which training examples can be removed, how many, and what that costs."""

from leanset._errors import (
    DivergenceError,
    InputError,
    LeansetError,
    LeansetWarning,
    MissingExtraError,
    RunFolderError,
)
from leanset._version import __version__
from leanset.certify import Certificate, Finding
from leanset.checking import verify
from leanset.cost import Estimate, estimate
from leanset.influence import Cholesky, ConjugateGradients, Kronecker, LiSSA
from leanset.problem import Outcome
from leanset.pruning import prune
from leanset.recheck import Check
from leanset.result import PruneResult, load
from leanset.select import Coverage, Frontier, FrontierPoint
from leanset.settings import CompareSettings, Settings
from leanset.solve import AdaptiveAnnealing, Exhaustive, SimulatedAnnealing
from leanset.trials import CompareResult, CompareRow, compare

__all__ = [
    "AdaptiveAnnealing",
    "Certificate",
    "Check",
    "Cholesky",
    "CompareResult",
    "CompareRow",
    "CompareSettings",
    "ConjugateGradients",
    "Coverage",
    "DivergenceError",
    "Estimate",
    "Exhaustive",
    "Finding",
    "Frontier",
    "FrontierPoint",
    "InputError",
    "Kronecker",
    "LeansetError",
    "LeansetWarning",
    "LiSSA",
    "MissingExtraError",
    "Outcome",
    "PruneResult",
    "RunFolderError",
    "Settings",
    "SimulatedAnnealing",
    "__version__",
    "compare",
    "estimate",
    "load",
    "prune",
    "verify",
]
