from leanset._errors import InputError
from leanset.scores.aum import AUM
from leanset.scores.ccs import CCS
from leanset.scores.contract import Method
from leanset.scores.d2 import D2
from leanset.scores.dual import DUAL
from leanset.scores.dyn_unc import DynUnc
from leanset.scores.el2n import EL2N
from leanset.scores.forgetting import Forgetting
from leanset.scores.grand import GraNd, LastLayerGraNd
from leanset.scores.herding import Herding
from leanset.scores.influence import InfluenceScore
from leanset.scores.k_center import KCenterGreedy
from leanset.scores.moderate import Moderate
from leanset.scores.random import Random, StratifiedRandom

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Random,
        StratifiedRandom,
        Herding,
        Forgetting,
        GraNd,
        LastLayerGraNd,
        EL2N,
        InfluenceScore,
        AUM,
        Moderate,
        KCenterGreedy,
        CCS,
        DynUnc,
        DUAL,
        D2,
    )
}


def method_named(name: str) -> Method:
    """Return the method with this name, with default options.

    Examples
    --------
    >>> method_named("el2n").name
    'el2n'
    """
    if name not in METHODS:
        raise InputError(f"`method={name!r}` is unknown; choose from {', '.join(METHODS)}.")
    return METHODS[name]()
