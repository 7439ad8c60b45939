import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from leanset._arrays import Matrix
from leanset._linalg import LinearSolution
from leanset.head import Curvature


@dataclass(frozen=True)
class InverseHessian:
    """A way to apply H⁻¹ to (k, C, D) stacks, made ready for one Hessian; every answer carries its residual."""

    name: str
    solve: Callable[[Matrix], LinearSolution]


class Inverse(abc.ABC):
    """How to invert the head's Hessian. An instance is its settings; nothing is computed before `prepare`."""

    name: ClassVar[str]

    @abc.abstractmethod
    def prepare(self, curvature: Curvature) -> InverseHessian:
        """Do the work that does not depend on the right-hand side."""


def flat_operator(hessian: Matrix) -> Callable[[Matrix], Matrix]:
    """Return the product with an explicit (C·D, C·D) matrix as an operator on (k, C, D) stacks."""

    def apply(stack: Matrix) -> Matrix:
        return (stack.reshape(len(stack), -1) @ hessian).reshape(stack.shape)  # hessian is symmetric

    return apply


def hessian_operator(curvature: Curvature, *, explicit_up_to: int) -> Callable[[Matrix], Matrix]:
    """Return the cheaper way to apply H to many right-hand sides: the explicit matrix while it is small."""
    n_classes, width = curvature.shape
    if n_classes * width <= explicit_up_to:
        return flat_operator(curvature.hessian())
    return curvature.apply
