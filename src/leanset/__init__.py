"""Find which training examples can be removed, how many, and what that costs."""

import importlib
from typing import TYPE_CHECKING, Any

from leanset._errors import (
    ClusterError,
    DivergenceError,
    InputError,
    LeansetError,
    LeansetWarning,
    MissingExtraError,
    RunFolderError,
)
from leanset._version import __version__

if TYPE_CHECKING:
    from leanset import data as data
    from leanset import head as head
    from leanset import scores as scores
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
    from leanset.trials import CompareResult, CompareRow
    from leanset.trials.compare import compare  # from the door, mypy takes it for the file of that name

__all__ = [
    "AdaptiveAnnealing",
    "Certificate",
    "Check",
    "Cholesky",
    "ClusterError",
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

# Where each name lives, for `__getattr__`: a name is imported when it is first used, because SciPy and numba take a
# second to import. Type checkers and editors read the block above; a test holds the two against each other.
_HOMES = {
    "certify": ("Certificate", "Finding"),
    "checking": ("verify",),
    "cost": ("Estimate", "estimate"),
    "influence": ("Cholesky", "ConjugateGradients", "Kronecker", "LiSSA"),
    "problem": ("Outcome",),
    "pruning": ("prune",),
    "recheck": ("Check",),
    "result": ("PruneResult", "load"),
    "select": ("Coverage", "Frontier", "FrontierPoint"),
    "settings": ("CompareSettings", "Settings"),
    "solve": ("AdaptiveAnnealing", "Exhaustive", "SimulatedAnnealing"),
    "trials": ("CompareResult", "CompareRow"),
    "trials.compare": ("compare",),
}
_ROOMS = ("data", "head", "scores")  # reached as `leanset.scores`, without an import of their own

if not TYPE_CHECKING:  # which would otherwise take every misspelt name for one that exists

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"leanset.{name}")
        for home, names in _HOMES.items():
            if name in names:
                value = getattr(importlib.import_module(f"leanset.{home}"), name)
                globals()[name] = value  # the next use finds it at once
                return value
        raise AttributeError(f"module 'leanset' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
