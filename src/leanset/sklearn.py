"""leanset for scikit-learn and imbalanced-learn: `from leanset.sklearn import InfluencePruner, prune_for`."""

from leanset._errors import missing_extra

try:
    import sklearn  # noqa: F401
except ImportError:
    raise missing_extra("leanset.sklearn", "sklearn") from None

from leanset.estimators import InfluencePruner, PrunedEstimator, prune_for

__all__ = ["InfluencePruner", "PrunedEstimator", "prune_for"]
