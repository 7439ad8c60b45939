from dataclasses import dataclass, replace

import numpy as np

from leanset._arrays import Matrix, Vector
from leanset._errors import DivergenceError
from leanset._linalg import Operator, conjugate_gradients, factored
from leanset.head.curvature import Curvature
from leanset.head.design import Design
from leanset.rows import Column

_DENSE_PRECONDITIONER = 1500  # largest C·D whose sampled Hessian is factored rather than approximated
_WARM_START_ROWS, _WARM_START_MOST = 16384, 2**17
_MOST_STEPS = 30  # steps of conjugate gradients after which a new preconditioner is worth its price
_FAR = 1e-2  # a Newton step of this share of ‖θ‖ at a gradient of rounding size means that there is no minimum
_LOOSE = 0.1  # largest relative residual of a Newton step that counts as solved


@dataclass(frozen=True)
class HeadFit:
    """A minimiser of the head's objective, and a bound on its error.

    Attributes
    ----------
    theta : (C, D) weights, bias last
    l2 : weight of the penalty
    gradient_norm : ‖∇‖ of the penalised objective at theta
    error_bound : bound on the distance to the true minimiser. If every column is penalised, it is proven by strong
        convexity: gradient_norm / l2. Else it is an estimate, the length of the last Newton step, which theta already
        contains; near the minimum the distance that is left is of second order in it
    iterations : Newton steps taken
    """

    theta: Matrix
    l2: float
    gradient_norm: float
    error_bound: float
    iterations: int


def fit_head(
    design: Design,
    l2: float,
    *,
    weights: Vector | None = None,
    start: Matrix | None = None,
    precondition: Operator | None = None,
    relative_error: float = 1e-7,
    max_iterations: int = 100,
) -> HeadFit:
    """Fit a head by Newton steps whose linear systems are solved with conjugate gradients.

    Minimises Σ w_i ℓ_i / Σ w_i + (l2/2)‖θ‖², with w_i the weights times the design's worth of each row. Stops when the bound
    on the distance to the minimiser (see `HeadFit`) is at most `relative_error`·‖θ‖.

    Parameters
    ----------
    design : rows, targets and loss
    l2 : weight of (l2/2)‖θ‖²; the design says whether the bias is included
    weights : (n,) weight of each row, 0 for a removed one; all 1 if None
    start : (C, D) head to start from
    precondition : inverse of a similar Hessian, applied to (k, C, D) stacks; built from the rows if None
    relative_error : distance to the minimiser at which to stop, relative to ‖θ‖
    max_iterations : most Newton steps; raises if they are not enough

    Examples
    --------
    >>> from leanset.head.softmax import Softmax
    >>> from leanset.rows import MemoryRows
    >>> rng = np.random.default_rng(0)
    >>> rows = MemoryRows(np.c_[rng.normal(size=(60, 2)), np.ones(60)])
    >>> fit_head(Design(rows, rng.integers(0, 3, 60), Softmax(3)), 1e-2).gradient_norm < 1e-8
    True
    """
    if weights is not None:
        design, weights = design.counting(weights)
    if start is None and len(design) > _WARM_START_ROWS:
        counting = np.arange(len(design)) if weights is None else np.flatnonzero(weights)
        some = counting[:: max(8, len(counting) // _WARM_START_MOST)]
        every, counts = design.sample(some), None if weights is None else weights[some]
        every = replace(every, penalise_bias=True)  # a class may have no row there, and the best bias no limit
        start = fit_head(every, l2, weights=counts, relative_error=1e-2, max_iterations=max_iterations).theta
    problem = _Problem(design, l2, weights)
    theta = np.zeros(design.shape) if start is None else design.ridge(l2).settled(start)
    try:
        return _minimised(problem, theta, precondition, relative_error, max_iterations)
    except DivergenceError:
        if l2 > 0:
            raise
        rows = len(design) if weights is None else np.count_nonzero(weights)
        raise DivergenceError(
            f"Without a penalty (`l2=0`) the head has no minimum on {rows:,} of the examples: they can be separated without "
            "an error, or features depend on one another. Give an `l2` above 0, or keep more examples."
        ) from None


def _minimised(
    problem: "_Problem", theta: Matrix, precondition: Operator | None, relative_error: float, max_iterations: int
) -> HeadFit:
    design, l2, weights = problem.design, problem.l2, problem.weights
    value, strength = problem.objective(theta), design.ridge(l2).strength
    newton_step, rounding, inverse = np.inf, False, precondition
    for step in range(max_iterations + 1):
        predicted, gradient, floor = problem.gradient(theta)
        norm = float(np.linalg.norm(gradient))
        error = norm / strength if strength else newton_step
        # A gradient of rounding size ends the fit; an estimated error then needs a step measured there, not a long one.
        final = norm <= floor and (strength > 0 or (rounding and np.isfinite(newton_step)))
        if final and error > _FAR * np.linalg.norm(theta):
            break  # nothing but rounding is left of the gradient, and the minimum is not near: it is at infinity
        if final or error <= relative_error * np.linalg.norm(theta):
            return HeadFit(theta, l2, norm, error, step)
        rounding = norm <= floor
        curvature = Curvature(design, predicted, l2, weights)
        inverse = inverse or _preconditioner(curvature)
        solved = conjugate_gradients(
            curvature.apply,
            gradient[None],
            precondition=inverse,
            tolerance=min(_LOOSE, np.sqrt(norm)),
            max_iterations=500,
            measured=False,  # the next gradient tells
        )
        if precondition is None and solved.iterations > _MOST_STEPS:
            inverse = None  # the head has moved away from where it was made
        del predicted, curvature  # a column may be large, and the next one is made before this name has it
        direction = solved.solution[0]
        newton_step = float(np.linalg.norm(direction)) if solved.worst_residual <= _LOOSE else np.inf
        theta, value = _line_search(problem, theta, value, gradient, direction)
    raise DivergenceError(
        f"The head did not reach a minimum in {max_iterations} Newton steps (gradient norm {norm:.2g}); raise `l2={l2}` "
        "or pass `standardize=True`."
    )


@dataclass(frozen=True)
class _Problem:
    design: Design
    l2: float
    weights: Vector | None

    def objective(self, theta: Matrix) -> float:
        return self.design.objective(theta, self.l2, self.weights)

    def gradient(self, theta: Matrix) -> tuple[Column, Matrix, float]:
        """Return the predictions, the gradient, and the norm that rounding leaves at the exact minimiser."""
        predicted = self.design.predicted(theta, self.weights)
        total = self.design.total(self.weights)
        gradient, scale = self.design.gradient_at(predicted, self.weights)
        ridge = self.design.ridge(self.l2)
        # The gradient has no part along what is held; rounding errors there would look like a step to take.
        return predicted, ridge.settled(gradient / total + ridge.slope(theta)), 1e-15 * scale / total


def _line_search(
    problem: _Problem, theta: Matrix, value: float, gradient: Matrix, direction: Matrix
) -> tuple[Matrix, float]:
    slope, length = float(np.sum(gradient * direction)), 1.0
    while length > 1e-10:
        candidate = theta - length * direction
        reached = problem.objective(candidate)
        # Near the minimum the decrease is smaller than the rounding error of the objective; the full Newton step is right.
        if reached <= value - 1e-4 * length * slope or slope <= 1e-13 * max(1.0, abs(value)):
            return candidate, reached
        length /= 2
    raise DivergenceError(
        f"The objective did not decrease along a Newton step (gradient norm {np.linalg.norm(gradient):.2g}); raise "
        f"`l2={problem.l2}`."
    )


def _preconditioner(curvature: Curvature) -> Operator:
    outputs, width = curvature.shape
    dense = outputs * width <= _DENSE_PRECONDITIONER
    enough = max(4096, 4 * width * (outputs if dense else 1))
    sample = curvature.every(len(curvature.rows_that_count) // enough)
    if not dense:
        return sample.kronecker().solve
    try:
        solved = factored(sample.hessian())
    except np.linalg.LinAlgError:
        raise DivergenceError(
            f"The head's Hessian is singular in float64 at l2={curvature.l2}; pass `standardize=True` or raise `l2`."
        ) from None

    def solve(stack: Matrix) -> Matrix:
        return solved(stack.reshape(len(stack), -1).T).T.reshape(stack.shape)

    return solve
