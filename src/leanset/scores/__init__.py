"""Pruning methods of the literature, one file a method, all behind one contract (`contract.py`)."""

from leanset.scores._records import share_wrong
from leanset.scores.aum import AUM
from leanset.scores.ccs import CCS
from leanset.scores.contract import Evidence, Method, Needs, Score, checked_whole
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
from leanset.scores.names import METHODS, method_named
from leanset.scores.random import Random, StratifiedRandom
from leanset.scores.suspects import confident_disagreement, implausible_labels
from leanset.scores.thinning import drawn, kept_shares

__all__ = [
    "AUM",
    "CCS",
    "D2",
    "DUAL",
    "EL2N",
    "METHODS",
    "DynUnc",
    "Evidence",
    "Forgetting",
    "GraNd",
    "Herding",
    "InfluenceScore",
    "KCenterGreedy",
    "LastLayerGraNd",
    "Method",
    "Moderate",
    "Needs",
    "Random",
    "Score",
    "StratifiedRandom",
    "checked_whole",
    "confident_disagreement",
    "drawn",
    "implausible_labels",
    "kept_shares",
    "method_named",
    "share_wrong",
]
