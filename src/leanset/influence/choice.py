from dataclasses import dataclass

import numpy as np

from leanset._arrays import Vector
from leanset._linalg import LinearSolution, Operator
from leanset.head import FittedHead
from leanset.influence.cholesky import Cholesky
from leanset.influence.conjugate_gradients import ConjugateGradients
from leanset.influence.inverse import Inverse
from leanset.influence.kronecker import Kronecker
from leanset.influence.prepared import InverseHessian

_LARGEST_DENSE_HEAD = 3000  # largest C·D for which exact vectors, n·(C·D)² operations, take only minutes
ROWS_PER_COORDINATE = 16  # rows that a solver should be able to move per coordinate to balance


@dataclass(frozen=True)
class HeadInverses:
    """The inverses of one head's Hessian.

    Attributes
    ----------
    steering : computes the vectors of single rows, which guide the search
    sums : inverse of the Hessian of all rows, for a sum of gradients
    precondition : a cheap (approximate) inverse, a preconditioner for the Hessian of any kept rows
    """

    steering: Inverse
    sums: InverseHessian
    precondition: Operator

    def influence_of_sum(self, head: FittedHead, removed: Vector, *, centred: bool = True) -> LinearSolution:
        """Return the linear prediction of the head's change, (1/n) H⁻¹ Σ removed_i g_i, as a (1, C, D) stack."""
        rhs = head.gradient_sum(removed, centred=centred) / head.design.total()
        return self.sums.solve(rhs[None])


def choose_inverse(shape: tuple[int, int], memory: int) -> Inverse:
    """Choose the exact inverse if its matrices fit half of `memory` bytes and it takes only minutes, else Kronecker.

    Examples
    --------
    >>> choose_inverse((10, 65), 2**30), choose_inverse((1000, 2049), 2**30)
    (Cholesky(), Kronecker(directions=4096))
    """
    size = shape[0] * shape[1]
    if size <= _LARGEST_DENSE_HEAD and 2 * Cholesky().matrix_bytes(size) <= memory:  # there are vectors beside it
        return Cholesky()
    # Balancing k coordinates well takes about 16·k rows of k float32 numbers.
    return Kronecker(directions=max(1, int(np.sqrt(memory / (4 * ROWS_PER_COORDINATE)))))


def prepare_inverses(head: FittedHead, given: Inverse | None, memory: int) -> HeadInverses:
    """Prepare the inverses of a head: the given one, or one chosen by its size.

    The certificate needs only one sum, so its inverse is exact for a head of any size, unless the user chose another.
    """
    steering = given or choose_inverse(head.design.shape, memory)
    exact = steering if given or steering.direct else ConjugateGradients()
    sums = exact.prepare(head.curvature())
    if exact.direct:
        return HeadInverses(steering, sums, lambda stack: sums.solve(stack).solution)
    return HeadInverses(steering, sums, preconditioner(head, memory))


def preconditioner(head: FittedHead, memory: int) -> Operator:
    """Return an (approximate) inverse of the full Hessian, a preconditioner for the Hessian of any kept rows."""
    chosen = choose_inverse(head.design.shape, memory)
    if not chosen.direct:
        return head.kronecker.solve
    prepared = chosen.prepare(head.curvature())
    return lambda stack: prepared.solve(stack).solution
