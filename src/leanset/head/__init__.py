from leanset.head.curvature import Curvature, KroneckerFactors
from leanset.head.design import Design, Scaling, design_of
from leanset.head.fit import HeadFit, fit_head
from leanset.head.softmax import losses, mean_loss_gradient, probabilities, share_right, softmax

__all__ = [
    "Curvature",
    "Design",
    "HeadFit",
    "KroneckerFactors",
    "Scaling",
    "design_of",
    "fit_head",
    "losses",
    "mean_loss_gradient",
    "probabilities",
    "share_right",
    "softmax",
]
