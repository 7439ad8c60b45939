from leanset.influence.choice import (
    ROWS_PER_COORDINATE,
    HeadInverses,
    choose_inverse,
    preconditioner,
    prepare_inverses,
)
from leanset.influence.cholesky import Cholesky
from leanset.influence.conjugate_gradients import ConjugateGradients
from leanset.influence.inverse import Inverse, influence_map
from leanset.influence.kronecker import Kronecker
from leanset.influence.lissa import LiSSA
from leanset.influence.map import InfluenceMap
from leanset.influence.prepared import InverseHessian

INVERSES: dict[str, type[Inverse]] = {  # by their names on the command line
    kind.name: kind for kind in (Cholesky, ConjugateGradients, LiSSA, Kronecker)
}

__all__ = [
    "INVERSES",
    "ROWS_PER_COORDINATE",
    "Cholesky",
    "ConjugateGradients",
    "HeadInverses",
    "InfluenceMap",
    "Inverse",
    "InverseHessian",
    "Kronecker",
    "LiSSA",
    "choose_inverse",
    "influence_map",
    "preconditioner",
    "prepare_inverses",
]
