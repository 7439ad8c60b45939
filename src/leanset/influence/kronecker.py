from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset._errors import InputError
from leanset._linalg import conjugate_gradients
from leanset.head import Curvature, FittedHead, Loss
from leanset.influence.inverse import Inverse
from leanset.influence.kronecker_map import kronecker_map, solved_by
from leanset.influence.map import InfluenceMap
from leanset.influence.prepared import InverseHessian

_REMARKED_ROWS = 4
_SAMPLED_ROWS = 2**15  # whose Hessian is enough to tell how far off the approximation is
_EXACT_ENOUGH = 1e-3  # the error to be stated is tens of percent


@dataclass(frozen=True)
class Kronecker(Inverse):
    """Approximate the Hessian in a Kronecker eigenbasis (EK-FAC); cheap at any C·D, but never exact.

    Its residual is measured against the true Hessian and is large: tens of percent are usual. leanset uses it to guide
    the search on very large heads. The certificate is then computed with conjugate gradients.

    Parameters
    ----------
    directions : number of leading coordinates that the solver uses when a row has too many coordinates, C·D, to store.
        The others stay as unbalanced as in a random set, so this limits the quality of the result.

    Examples
    --------
    >>> import leanset
    >>> leanset.Kronecker().directions
    4096
    """

    directions: int = 4096
    name: ClassVar[str] = "kronecker"

    def __post_init__(self) -> None:
        if self.directions < 1:
            raise InputError(f"`Kronecker(directions={self.directions})` must be at least 1.")

    def prepare(self, curvature: Curvature) -> InverseHessian:
        """Compute the eigenbasis and eigenvalues."""
        factors = curvature.kronecker()
        return InverseHessian(self.name, lambda stack: solved_by(factors, curvature, stack))

    def influence(
        self,
        head: FittedHead,
        weights: Vector | None,
        shift: Matrix,
        scale: float,
        prepared: InverseHessian | None,
        measured_by: FittedHead | None,
    ) -> InfluenceMap:
        """Map rows to the leading coordinates of the eigenbasis; its own eigenvalues stand for the given Hessian."""
        power = 1.0 if measured_by is None else 0.5
        return kronecker_map(head, weights, self.directions, shift, scale, power)

    def matrix_bytes(self, size: int) -> int:
        """Return 0: no matrix of the head's size is built."""
        return 0

    def vector_length(self, loss: Loss, width: int) -> int:
        """Return the number of coordinates used."""
        return min(super().vector_length(loss, width), self.directions)

    def remark(self, head: FittedHead, influence: InfluenceMap) -> str | None:
        """Return a remark on the accuracy of the approximation."""
        rows = np.linspace(0, len(head) - 1, _REMARKED_ROWS).astype(np.int64)
        stride = -(-len(head) // _SAMPLED_ROWS)
        error = error_against_exact(head.curvature().every(stride), head.gradients(rows))
        sampled = f", with the Hessian of every {stride}th row" if stride > 1 else ""
        return (
            f"The search was guided by Kronecker-approximated influences: relative error {error:.2g} against conjugate "
            f"gradients on {len(rows)} rows{sampled}, {influence.captured:.1%} of the squared length in the coordinates used. "
            "The changes stated here do not depend on that approximation, except `influence_change` if `inverse` is "
            "kronecker."
        )


def error_against_exact(curvature: Curvature, right_hand_sides: Matrix) -> float:
    """Return the relative error of the approximation on some (k, C, D) vectors, against conjugate gradients."""
    solve = curvature.kronecker().solve
    exact = conjugate_gradients(
        curvature.apply,
        right_hand_sides,
        precondition=solve,
        tolerance=_EXACT_ENOUGH,
        max_iterations=300,
    ).solution
    return float(np.linalg.norm(solve(right_hand_sides) - exact) / np.linalg.norm(exact))
