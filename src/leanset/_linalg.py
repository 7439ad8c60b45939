from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset._errors import DivergenceError

Operator = Callable[[Matrix], Matrix]


@dataclass(frozen=True)
class LinearSolution:
    """Solutions of H x = b for several right-hand sides, with their residuals.

    Attributes
    ----------
    solution : same shape as the right-hand sides, first axis = right-hand side
    residual : (k,) relative residuals ‖H x − b‖ / ‖b‖, computed from x with one more product, unless that was not wanted
    iterations : steps taken (0 for a direct method)
    """

    solution: Matrix
    residual: Vector
    iterations: int

    @property
    def worst_residual(self) -> float:
        """Largest relative residual over the right-hand sides."""
        return float(self.residual.max(initial=0.0))


def factored(matrix: Matrix) -> Operator:
    """Factor a symmetric matrix, and return what solves for the columns of right-hand sides.

    Raises NumPy's LinAlgError if the matrix is not positive definite in float64.

    Examples
    --------
    >>> factored(np.array([[4.0, 0.0], [0.0, 1.0]]))(np.array([2.0, 3.0])).tolist()
    [0.5, 3.0]
    """
    from scipy.linalg import cho_factor, cho_solve  # here, because it would slow down every start

    factor = cho_factor(matrix, lower=True)
    return lambda rhs: np.asarray(cho_solve(factor, rhs))


def singular(l2: float) -> DivergenceError:
    """Return the error for a Hessian that has no factor in float64."""
    return DivergenceError(
        f"The head's Hessian is singular in float64 at l2={l2}; raise `l2`, or drop duplicate features."
    )


def relative_residual(apply: Operator, solution: Matrix, rhs: Matrix) -> Vector:
    """Return ‖H x − b‖ / ‖b‖ for each right-hand side (0 where b = 0 and x = 0)."""
    norms = _norms(rhs)
    return _norms(apply(solution) - rhs) / np.where(norms > 0, norms, 1.0)


def conjugate_gradients(
    apply: Operator,
    rhs: Matrix,
    *,
    precondition: Operator,
    tolerance: float,
    max_iterations: int,
    measured: bool = True,
) -> LinearSolution:
    """Solve H x = b for a stack of right-hand sides, each with its own step lengths.

    A right-hand side that has reached the tolerance is frozen: iterating further would divide rounding noise by
    rounding noise and end in NaN. If the residual need not be `measured`, the one of the recursion is returned, which costs
    no product.
    """
    x, r = np.zeros_like(rhs), rhs.copy()
    goal = tolerance * _norms(rhs)
    z = precondition(r)
    d, rz = z.copy(), _dots(r, z)
    steps = 0
    while steps < max_iterations:
        active = _norms(r) > goal
        if not active.any():
            break
        hd = apply(d)
        curvature = _dots(d, hd)
        if not np.isfinite(curvature).all() or (curvature[active] <= 0).any():
            raise DivergenceError(
                "Conjugate gradients found a direction of non-positive curvature: the Hessian is not positive definite in "
                "float64. Raise `l2`."
            )
        step = np.where(active, rz / np.where(curvature > 0, curvature, 1.0), 0.0)
        x += _scaled(step, d)
        r -= _scaled(step, hd)
        z = precondition(r)
        rz, previous = _dots(r, z), rz
        d = z + _scaled(np.where(active, rz / np.where(previous > 0, previous, 1.0), 0.0), d)
        steps += 1
    if measured:
        return LinearSolution(x, relative_residual(apply, x, rhs), steps)
    norms = _norms(rhs)
    return LinearSolution(x, _norms(r) / np.where(norms > 0, norms, 1.0), steps)


def _norms(stack: Matrix) -> Vector:
    return np.sqrt(_dots(stack, stack))


def _dots(a: Matrix, b: Matrix) -> Vector:
    return np.asarray(np.einsum("ki,ki->k", a.reshape(len(a), -1), b.reshape(len(b), -1)))


def _scaled(factors: Vector, stack: Matrix) -> Matrix:
    return np.asarray(factors.reshape(-1, *([1] * (stack.ndim - 1))) * stack)
