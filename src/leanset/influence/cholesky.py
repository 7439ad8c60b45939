from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Matrix
from leanset._linalg import LinearSolution, factored, relative_residual, singular
from leanset.head import Curvature
from leanset.influence.inverse import Inverse
from leanset.influence.prepared import InverseHessian, flat_operator


@dataclass(frozen=True)
class Cholesky(Inverse):
    """Factor the exact (C·D, C·D) Hessian; the default for small heads.

    Examples
    --------
    >>> import leanset
    >>> leanset.Cholesky()
    Cholesky()
    """

    name: ClassVar[str] = "cholesky"
    direct: ClassVar[bool] = True

    def prepare(self, curvature: Curvature) -> InverseHessian:
        """Build and factor the Hessian."""
        hessian = curvature.hessian()
        try:
            solved = factored(hessian)
        except np.linalg.LinAlgError:
            raise singular(curvature.l2) from None
        apply = flat_operator(hessian)

        def solve(stack: Matrix) -> LinearSolution:
            solution = solved(stack.reshape(len(stack), -1).T).T.reshape(stack.shape)
            return LinearSolution(solution, relative_residual(apply, solution, stack), 0)

        return InverseHessian(self.name, solve)
