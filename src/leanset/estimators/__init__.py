"""leanset as scikit-learn and imbalanced-learn know estimators, and their estimators as leanset's heads."""

from leanset.estimators.pruned import PrunedEstimator
from leanset.estimators.pruner import InfluencePruner
from leanset.estimators.served import prune_for

__all__ = ["InfluencePruner", "PrunedEstimator", "prune_for"]
