import abc
from typing import ClassVar

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset.head import Curvature, FittedHead, Loss
from leanset.influence.dense_map import dense_map
from leanset.influence.map import InfluenceMap
from leanset.influence.prepared import InverseHessian

_LARGE_RESIDUAL = 1e-3


class Inverse(abc.ABC):
    """How to invert the head's Hessian. An instance is its settings; nothing is computed before `prepare`.

    An inverse says of itself what it can do, so that nobody has to ask which one it is.
    """

    name: ClassVar[str]
    direct: ClassVar[bool] = False  # exact and without iterations, so it also serves as a preconditioner

    @abc.abstractmethod
    def prepare(self, curvature: Curvature) -> InverseHessian:
        """Do the work that does not depend on the right-hand side."""

    def influence(
        self, head: FittedHead, weights: Vector | None, shift: Matrix, scale: float, prepared: InverseHessian | None
    ) -> InfluenceMap:
        """Prepare the influence vectors of single rows under the Hessian of (weighted) rows."""
        return dense_map(head, prepared or self.prepare(head.curvature(weights)), shift, scale)

    def matrix_bytes(self, size: int) -> int:
        """Return the memory that the vectors of a head with `size` weights need: four matrices of float64."""
        return 4 * 8 * size**2

    def vector_length(self, loss: Loss, width: int) -> int:
        """Return how many coordinates the vector of a row has."""
        return int(loss.basis().shape[1]) * width

    def remark(self, head: FittedHead, influence: InfluenceMap) -> str | None:
        """Return what a reader must know of the vectors that steered the search, if anything."""
        if influence.residual <= _LARGE_RESIDUAL:
            return None
        return f"The influence vectors that steered the search have a relative residual of {influence.residual:.2g}."


def influence_map(
    head: FittedHead,
    inverse: Inverse,
    *,
    centred: bool = True,
    weights: Vector | None = None,
    prepared: InverseHessian | None = None,
) -> InfluenceMap:
    """Prepare the influence vectors of single rows.

    Parameters
    ----------
    head : the fitted head
    inverse : how to invert the Hessian
    centred : add l2·θ̂ to each gradient, so that the vectors of all rows add up to zero
    weights : of the rows whose Hessian (and number, as divisor) to use; all rows if None
    prepared : the inverse made ready for that Hessian, where the caller has it already
    """
    scale = 1.0 / (len(head) if weights is None else float(weights.sum()))
    shift = head.l2 * head.theta if centred else np.zeros_like(head.theta)
    return inverse.influence(head, weights, shift, scale, prepared)
