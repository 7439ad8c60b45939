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

_LARGEST_DENSE_HEAD = 3000  # C·D beyond which n·(C·D)² work on exact vectors stops being minutes
ROWS_PER_COORDINATE = 16  # how many rows a solver should be able to move for each coordinate it has to balance


@dataclass(frozen=True)
class HeadInverses:
    """The inverses of one head's Hessian.

    Attributes
    ----------
    steering : how the vectors of single rows are computed, which steer the search
    sums : the inverse Hessian of all rows, for one sum of gradients
    precondition : a cheap (approximate) inverse, good for every system with the Hessian of kept rows
    """

    steering: Inverse
    sums: InverseHessian
    precondition: Operator

    def influence_of_sum(self, head: FittedHead, removed: Vector, *, centred: bool = True) -> LinearSolution:
        """Return the linear prediction (1/n) H⁻¹ Σ removed_i g_i of the change of the head, as a (1, C, D) stack."""
        rhs = head.gradient_sum(removed, centred=centred) / len(head)
        return self.sums.solve(rhs[None])


def choose_inverse(shape: tuple[int, int], memory: int) -> Inverse:
    """Choose the exact inverse while its matrix fits `memory` bytes and its work is minutes, else Kronecker.

    Examples
    --------
    >>> choose_inverse((10, 65), 2**30), choose_inverse((1000, 2049), 2**30)
    (Cholesky(), Kronecker(directions=4096))
    """
    size = shape[0] * shape[1]
    if size <= _LARGEST_DENSE_HEAD and Cholesky().matrix_bytes(size) <= memory:
        return Cholesky()
    # Balancing k coordinates well takes some 16·k rows of k float32 numbers.
    return Kronecker(directions=max(1, int(np.sqrt(memory / (4 * ROWS_PER_COORDINATE)))))


def prepare_inverses(head: FittedHead, given: Inverse | None, memory: int) -> HeadInverses:
    """Make the inverses of a head ready: as given, or chosen by its size.

    Only one sum enters the certificate, so there the inverse is exact however large the head is, unless the user chose
    another one.
    """
    steering = given or choose_inverse(head.design.shape, memory)
    exact = steering if given or steering.direct else ConjugateGradients()
    sums = exact.prepare(head.curvature())
    if exact.direct:
        return HeadInverses(steering, sums, lambda stack: sums.solve(stack).solution)
    return HeadInverses(steering, sums, preconditioner(head, memory))


def preconditioner(head: FittedHead, memory: int) -> Operator:
    """Return an (approximate) inverse of the full Hessian, good for every system with a kept Hessian."""
    chosen = choose_inverse(head.design.shape, memory)
    if not chosen.direct:
        return head.curvature().kronecker().solve
    prepared = chosen.prepare(head.curvature())
    return lambda stack: prepared.solve(stack).solution
