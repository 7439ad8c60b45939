from collections.abc import Callable
from dataclasses import dataclass

from leanset._arrays import Matrix
from leanset._linalg import LinearSolution
from leanset.head import Curvature


@dataclass(frozen=True)
class InverseHessian:
    """Applies H⁻¹ to (k, C, D) stacks, for one prepared Hessian; every solution includes its residual."""

    name: str
    solve: Callable[[Matrix], LinearSolution]


def flat_operator(hessian: Matrix) -> Callable[[Matrix], Matrix]:
    """Return the product with an explicit (C·D, C·D) matrix as an operator on (k, C, D) stacks."""

    def apply(stack: Matrix) -> Matrix:
        return (stack.reshape(len(stack), -1) @ hessian).reshape(stack.shape)  # hessian is symmetric

    return apply


def hessian_operator(curvature: Curvature, *, explicit_up_to: int) -> Callable[[Matrix], Matrix]:
    """Return an operator that applies H: as an explicit matrix if it is small, else through the data."""
    outputs, width = curvature.shape
    if outputs * width <= explicit_up_to:
        return flat_operator(curvature.hessian())
    return curvature.apply
