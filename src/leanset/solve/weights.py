"""Weights of the kept rows: within bounds, nearest to even, such that the head stays where it is.

Small heads: Newton's method on the dual. The factors are s_i = clip(1 + ⟨λ, v_i⟩, low, high) for some λ with one number for
each equation. The dual function is convex and quadratic while no factor reaches or leaves a bound, so a few steps
solve it. Where no factors solve the equations, λ would grow without end. So they are softened by ρ·H, with H the Hessian
of the head: what they miss is then least in the metric of the loss (by ρ·H², in that of Δθ, if that is asked for). ρ falls
until the equations hold or stop improving.

Large heads: there are more equations than kept rows, so none can be solved. What they miss is made least in the metric
of the loss or of Δθ (H in its Kronecker approximation) by accelerated projected gradients, which need only products with
the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset._linalg import factored
from leanset.problem import WeightProblem

_EXPLICIT_UP_TO = 3000  # free coordinates of the head for which the normal matrix is formed
_SOFTNESS = 1e-2  # factor by which ρ falls from one stage to the next
_STAGES = 9
_EXACT = 1e-12  # relative error of the equations at which they count as solved
_GAIN = 0.02  # a stage that gains less ends the search
_NEWTON_STEPS = 30
_ROUNDING = 1e-15  # of a slope, relative to the sizes of what is added up
_SHALLOW, _HALVINGS = 0.1, 40  # a search along a step ends where the slope has fallen to such a share, or after so many
_GRADIENT_STEPS = 200
_EVENNESS = 1e-4  # weight of ½‖s − 1‖² beside the misfit, relative to the largest curvature


@dataclass(frozen=True)
class Weights:
    """Weights of all rows, and how far they are from solving the equations.

    Attributes
    ----------
    values : (n,) 0 for removed rows
    error : size of what the equations miss, relative to the sizes of what is added up
    exact : whether they are solved to rounding
    """

    values: Vector
    error: float
    exact: bool


def solve_weights(problem: WeightProblem) -> Weights:
    """Find the weights of the kept rows."""
    return _by_newton(problem) if may_be_exact(problem.head.free_weights) else _by_gradients(problem)


def may_be_exact(free_weights: int) -> bool:
    """Return whether weights are looked for that leave a head with so many free weights exactly where it is."""
    return free_weights <= _EXPLICIT_UP_TO


def _judged(problem: WeightProblem, factors: Vector) -> Weights:
    error = float(np.linalg.norm(problem.missing(factors))) / max(problem.scale, np.finfo(np.float64).tiny)
    return Weights(problem.weights(factors), error, error <= _EXACT)


def _by_newton(problem: WeightProblem) -> Weights:
    dual = _Dual(problem)
    direction, softness = np.zeros_like(problem.head.theta), dual.first_softness()
    best = _judged(problem, problem.kept)
    for _ in range(_STAGES):
        direction = dual.minimised(direction, softness)
        found = _judged(problem, dual.factors(direction))
        gained = found.error < (1 - _GAIN) * best.error
        best = min(best, found, key=lambda each: each.error)
        if best.exact or not gained:
            break
        softness *= _SOFTNESS
    return best


@dataclass(frozen=True)
class _Point:
    direction: Matrix
    along: Vector  # products of the direction with the rows, which cost a pass
    soft: Matrix  # the slope of the softening
    slope: Matrix


class _Dual:
    """The dual function of a weight problem, softened, and its Newton steps."""

    def __init__(self, problem: WeightProblem) -> None:
        self.problem, self.basis = problem, problem.head.loss.basis()
        self.softener = problem.softener

    def first_softness(self) -> float:
        """Return the ρ at which both parts of the system have one size."""
        normal = np.trace(self.problem.normal_matrix(self.problem.kept))
        return float(normal / np.trace(self.softener)) or 1.0

    def factors(self, direction: Matrix) -> Vector:
        """Return the factors that a direction stands for."""
        return self._clipped(self.problem.along(direction))

    def minimised(self, direction: Matrix, softness: float) -> Matrix:
        """Return the minimum of the function, from a start."""
        point = self._at(direction, self.problem.along(direction), softness)
        for _ in range(_NEWTON_STEPS):
            if np.linalg.norm(point.slope) <= 1e-15 * self.problem.scale:
                break
            step = self._step(point, softness)
            moved = None if step is None else self._searched(point, step, softness)
            if moved is None:
                break  # what is left is rounding of the function
            point = moved
        return point.direction

    def _clipped(self, along: Vector) -> Vector:
        problem = self.problem
        return np.asarray(problem.kept * np.clip(1.0 + along, problem.low, problem.high))

    def _softening(self, direction: Matrix, softness: float) -> Matrix:
        return softness * self._lifted(self.softener @ self._reduced(direction))

    def _at(self, direction: Matrix, along: Vector, softness: float) -> "_Point":
        soft = self._softening(direction, softness)
        return _Point(direction, along, soft, self.problem.missing(self._clipped(along)) + soft)

    def _step(self, point: "_Point", softness: float) -> Matrix | None:
        problem, moved = self.problem, 1.0 + point.along
        free = problem.kept * ((moved > problem.low) & (moved < problem.high))
        matrix = problem.normal_matrix(free) + softness * self.softener
        solution = _solved(matrix, self._reduced(point.slope))
        return None if solution is None else -self._lifted(solution)

    def _searched(self, point: "_Point", step: Matrix, softness: float) -> "_Point | None":
        """Return the lowest point along a step, or one a little before it; None where rounding hides the way down.

        Products with the rows are linear in the direction. So one pass tells them, and with them the slope, all along the step.
        """
        problem = self.problem
        sideways = problem.along(step)
        level = float(np.sum(step * (point.soft - problem.target)))
        bent = float(np.sum(step * self._softening(step, softness)))

        def slope_at(length: float) -> float:
            return float(self._clipped(point.along + length * sideways) @ sideways) + level + length * bent

        rounding = _ROUNDING * (float(self._clipped(point.along) @ np.abs(sideways)) + abs(level))
        falls = slope_at(0.0) < -rounding
        length = _lowest(slope_at, rounding) if falls else 1.0
        if length == 0.0:
            return None
        moved = self._at(point.direction + length * step, point.along + length * sideways, softness)
        # Where nothing but rounding is left to see along the step, a whole one may still lower the slope itself.
        return moved if falls or np.linalg.norm(moved.slope) < 0.5 * np.linalg.norm(point.slope) else None

    def _reduced(self, matrix: Matrix) -> Vector:
        return np.asarray((self.basis.T @ matrix).reshape(-1))

    def _lifted(self, vector: Vector) -> Matrix:
        return np.asarray(self.basis @ vector.reshape(self.basis.shape[1], -1))


def _lowest(slope_at: Callable[[float], float], rounding: float) -> float:
    """Return where a convex function is about lowest in [0, 1], and not beyond it; 0 if it does not fall."""
    first, low, high = slope_at(0.0), 0.0, 1.0
    if first >= -rounding:
        return 0.0
    if slope_at(1.0) <= rounding:
        return 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        slope = slope_at(middle)
        low, high = (low, middle) if slope > 0 else (middle, high)
        if _SHALLOW * first <= slope <= 0:
            break
    return low


def _solved(matrix: Matrix, rhs: Vector) -> Vector | None:
    """Solve with a matrix that may be singular in float64: few free rows, and hardly any softness.

    Returns None for a matrix that nothing can be solved with: rows so large or so small that it is infinite or zero.
    """
    size, lift = float(np.trace(matrix)), 0.0
    if not (np.isfinite(matrix).all() and size > 0):
        return None
    while lift <= size:
        try:
            return factored(matrix + lift * np.eye(len(matrix)))(rhs)
        except np.linalg.LinAlgError:
            lift = max(100 * lift, 1e-15 * size, np.finfo(np.float64).tiny)
    return None


def _by_gradients(problem: WeightProblem) -> Weights:
    kronecker = problem.head.kronecker

    def misfit(factors: Vector) -> Matrix:
        return problem.in_basis(kronecker, problem.missing(factors))

    def pulled(turned: Matrix) -> Vector:
        return problem.along(problem.from_basis(kronecker, turned))

    zero = misfit(np.zeros_like(problem.base))
    top = _largest_eigenvalue(lambda s: pulled(misfit(s) - zero), problem.kept)
    evenness = _EVENNESS * top
    factors, ahead, momentum = problem.kept, problem.kept, 1.0
    for _ in range(_GRADIENT_STEPS):
        slope = pulled(misfit(ahead)) + evenness * (ahead - problem.kept)
        moved = problem.kept * np.clip(ahead - slope / (1.05 * top + evenness), problem.low, problem.high)
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        if np.sum((ahead - moved) * (moved - factors)) > 0:  # momentum points uphill: start it anew
            following, ahead = 1.0, moved
        else:
            ahead = moved + (momentum - 1.0) / following * (moved - factors)
        factors, momentum = moved, following
    return _judged(problem, factors)


def _largest_eigenvalue(apply: Callable[[Vector], Vector], like: Vector, steps: int = 15) -> float:
    vector, value = like * np.random.default_rng(0).normal(size=len(like)), 0.0
    for _ in range(steps):
        vector = vector / np.linalg.norm(vector)
        pushed = apply(vector)
        value = max(value, float(vector @ pushed))
        vector = pushed
    return value
