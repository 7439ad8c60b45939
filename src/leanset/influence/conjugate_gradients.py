from dataclasses import dataclass
from typing import ClassVar

from leanset._arrays import Matrix
from leanset._errors import InputError
from leanset._linalg import LinearSolution, conjugate_gradients
from leanset.head import Curvature
from leanset.influence.inverse import Inverse
from leanset.influence.prepared import InverseHessian, hessian_operator


@dataclass(frozen=True)
class ConjugateGradients(Inverse):
    """Solve with conjugate gradients, preconditioned by the Kronecker approximation; needs only matrix products.

    Parameters
    ----------
    tolerance : relative residual to stop at
    max_iterations : most steps; the residual shows how far they got
    explicit_up_to : largest C·D for which the Hessian is stored as a matrix instead of being applied through the data

    Examples
    --------
    >>> import leanset
    >>> leanset.ConjugateGradients(tolerance=1e-6).max_iterations
    1000
    """

    tolerance: float = 1e-10
    max_iterations: int = 1000
    explicit_up_to: int = 3000
    name: ClassVar[str] = "cg"

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1:
            raise InputError(f"`ConjugateGradients(tolerance={self.tolerance})` must lie in (0, 1).")
        if self.max_iterations < 1:
            raise InputError(f"`ConjugateGradients(max_iterations={self.max_iterations})` must be at least 1.")

    def prepare(self, curvature: Curvature) -> InverseHessian:
        """Build the preconditioner and choose how H is applied."""
        apply = hessian_operator(curvature, explicit_up_to=self.explicit_up_to)
        precondition = curvature.kronecker().solve

        def solve(stack: Matrix) -> LinearSolution:
            return conjugate_gradients(
                apply, stack, precondition=precondition, tolerance=self.tolerance, max_iterations=self.max_iterations
            )

        return InverseHessian(self.name, solve)
