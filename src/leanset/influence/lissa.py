"""LiSSA (Agarwal, Bullins, Hazan 2016), the inverse that the paper uses.

x ← x + (b − H_B x) / scale, a Neumann series for H⁻¹b. It converges only if scale exceeds half of the largest
eigenvalue of H_B, and needs about scale / l2 steps. Other implementations leave the scale to the user, who raises it
until the NaN disappears. Here it is measured.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Matrix
from leanset._errors import DivergenceError, InputError
from leanset._linalg import LinearSolution, Operator, relative_residual
from leanset._rng import stream
from leanset.head import Curvature
from leanset.influence.inverse import Inverse
from leanset.influence.prepared import InverseHessian, hessian_operator

_CHECK_EVERY = 50


@dataclass(frozen=True)
class LiSSA(Inverse):
    """The paper's stochastic Neumann series, with its scale found from the data.

    Parameters
    ----------
    depth : steps of the recursion
    scale : divisor of the Hessian; None measures the top eigenvalue (by power iteration) and takes 1.1 times it
    batch_size : rows for the Hessian estimate in each step; None uses all rows, without sampling noise
    repeats : independent recursions to average (with `batch_size`)
    tolerance : stop early once every relative residual is below this
    seed : of the batches

    Examples
    --------
    >>> import leanset
    >>> leanset.LiSSA(depth=100).scale is None
    True
    """

    depth: int = 5000
    scale: float | None = None
    batch_size: int | None = None
    repeats: int = 1
    tolerance: float = 1e-6
    seed: int = 0
    name: ClassVar[str] = "lissa"

    def __post_init__(self) -> None:
        for field in ("depth", "repeats"):
            if getattr(self, field) < 1:
                raise InputError(f"`LiSSA({field}={getattr(self, field)})` must be at least 1.")
        if self.scale is not None and not self.scale > 0:
            raise InputError(f"`LiSSA(scale={self.scale})` must be positive, or None to measure it.")
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(f"`LiSSA(batch_size={self.batch_size})` must be at least 1, or None for all rows.")

    def prepare(self, curvature: Curvature) -> InverseHessian:
        """Measure the scale."""
        whole = hessian_operator(curvature, explicit_up_to=3000)
        rng = stream(self.seed, "lissa")
        batches = [self._batch(curvature, rng).apply for _ in range(8)] if self.batch_size else [whole]
        top = max(_top_eigenvalue(apply, curvature.shape, rng) for apply in batches)
        scale = self.scale or 1.1 * top

        def solve(stack: Matrix) -> LinearSolution:
            runs = [self._recursion(curvature, whole, stack, scale, top, rng) for _ in range(self.repeats)]
            solution = np.mean([run for run, _ in runs], axis=0)
            return LinearSolution(solution, relative_residual(whole, solution, stack), max(steps for _, steps in runs))

        return InverseHessian(self.name, solve)

    def _batch(self, curvature: Curvature, rng: np.random.Generator) -> Curvature:
        assert self.batch_size is not None  # batches are drawn only if a size is given
        return curvature.batch(self.batch_size, rng)

    def _recursion(
        self, curvature: Curvature, whole: Operator, rhs: Matrix, scale: float, top: float, rng: np.random.Generator
    ) -> tuple[Matrix, int]:
        x = rhs / scale
        longest = float(np.linalg.norm(rhs)) / scale  # no step of a series that converges is longer
        for step in range(1, self.depth + 1):
            apply = self._batch(curvature, rng).apply if self.batch_size else whole
            x += (rhs - apply(x)) / scale
            if step % _CHECK_EVERY:
                continue
            size = float(np.linalg.norm(x))
            if not np.isfinite(size) or size > 1e3 * step * longest:
                raise DivergenceError(
                    f"LiSSA diverged after {step} steps: scale={scale:.3g} is too small for the Hessian's top eigenvalue "
                    f"({top:.3g}). Pass `LiSSA(scale=None)` to measure it"
                    + (f", raise batch_size={self.batch_size}" if self.batch_size else "")
                    + ", or use `Cholesky()` or `ConjugateGradients()`."
                )
            if not self.batch_size and relative_residual(whole, x, rhs).max() < self.tolerance:
                return x, step
        return x, self.depth


def _top_eigenvalue(apply: Operator, shape: tuple[int, int], rng: np.random.Generator, steps: int = 50) -> float:
    vector = rng.normal(size=(1, *shape))
    value = 0.0
    for _ in range(steps):
        vector /= np.linalg.norm(vector)
        pushed = apply(vector)
        value = max(value, float(np.sum(vector * pushed)))
        vector = pushed
    return value
