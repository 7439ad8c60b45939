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
    """How to invert the head's Hessian. An instance contains only settings; nothing is computed before `prepare`.

    Each inverse states its own properties, so that callers need not check its type.
    """

    name: ClassVar[str]
    direct: ClassVar[bool] = False  # exact and without iterations, so it can also be a preconditioner

    @abc.abstractmethod
    def prepare(self, curvature: Curvature) -> InverseHessian:
        """Do the work that does not depend on the right-hand side."""

    def influence(
        self,
        head: FittedHead,
        weights: Vector | None,
        shift: Matrix,
        scale: float,
        prepared: InverseHessian | None,
        measured_by: FittedHead | None,
    ) -> InfluenceMap:
        """Prepare the influence vectors of single rows, with the Hessian of all or weighted rows."""
        return dense_map(head, prepared or self.prepare(head.curvature(weights)), shift, scale, measured_by)

    def matrix_bytes(self, size: int) -> int:
        """Return the bytes of matrices needed for a head with `size` weights: four, in float64."""
        return 4 * 8 * size**2

    def vector_length(self, loss: Loss, width: int) -> int:
        """Return the number of coordinates of one row's vector."""
        return int(loss.basis().shape[1]) * width

    def remark(self, head: FittedHead, influence: InfluenceMap) -> str | None:
        """Return a remark on the accuracy of the vectors that guided the search, or None."""
        if influence.residual <= _LARGE_RESIDUAL:
            return None
        return f"The influence vectors that guided the search have a relative residual of {influence.residual:.2g}."


def influence_map(
    head: FittedHead,
    inverse: Inverse,
    *,
    centred: bool = True,
    weights: Vector | None = None,
    prepared: InverseHessian | None = None,
    measured_by: FittedHead | None = None,
) -> InfluenceMap:
    """Prepare the influence vectors of single rows.

    Parameters
    ----------
    head : the fitted head
    inverse : how to invert the Hessian
    centred : add the penalty's slope l2·θ̂ to each gradient, as often as its row counts, so that all vectors sum to zero
    weights : (n,) row weights for the Hessian and for the divisor; all rows if None
    prepared : the prepared inverse of that Hessian, if the caller already has it
    measured_by : measure vectors by ΔᵀHΔ with H the Hessian of this head, twice the rise of its objective; by their
        Euclidean length if None
    """
    scale = 1.0 / head.design.total(weights)
    shift = head.penalty_slope if centred else np.zeros_like(head.theta)
    return inverse.influence(head, weights, shift, scale, prepared, measured_by)
