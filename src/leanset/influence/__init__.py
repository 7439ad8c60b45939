from leanset.influence.cholesky import Cholesky
from leanset.influence.conjugate_gradients import ConjugateGradients
from leanset.influence.inverse import Inverse, InverseHessian
from leanset.influence.kronecker import Kronecker
from leanset.influence.lissa import LiSSA
from leanset.influence.vectors import HeadState, InfluenceMap, choose_inverse, influence_map, influence_of_sum

__all__ = [
    "Cholesky",
    "ConjugateGradients",
    "HeadState",
    "InfluenceMap",
    "Inverse",
    "InverseHessian",
    "Kronecker",
    "LiSSA",
    "choose_inverse",
    "influence_map",
    "influence_of_sum",
]
