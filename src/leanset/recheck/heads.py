"""The heads of a run, fitted again, and how accurate they are.

Two accurate fits of one head differ by a little: by what each is away from the minimum. `Heads` knows how much that is,
and how much of it reaches a number that is computed from the heads. Nothing else is let off but rounding.
"""

from dataclasses import dataclass

import numpy as np

from leanset._arrays import Matrix
from leanset.recheck.plain import Fit, PlainProblem

ROUNDING = 1e-6  # relative difference that rounding and iterative solvers explain
EXACT = 1e-4  # relative residual below which the solution of a linear system counts as exact
_PROMISED = 1e-7  # distance to the minimum at which a run stops its fits, relative to the norm of the head


@dataclass(frozen=True)
class Heads:
    """The problem of a run, and its heads fitted again.

    Attributes
    ----------
    problem, judge : all training rows; the validation rows, or all training rows without any
    full, lean : the heads of all rows and of the kept ones
    error : how far the two heads of the run may be from these
    """

    problem: PlainProblem
    judge: PlainProblem
    full: Matrix
    lean: Matrix
    error: float

    @property
    def places(self) -> dict[str, PlainProblem]:
        """The rows that a certificate tells losses of, by name."""
        return {"training": self.problem} | ({} if self.judge is self.problem else {"validation": self.judge})

    def mean_error(self, rows: PlainProblem, error: float, *heads: Matrix) -> float:
        """Return how much a mean of losses under some heads can differ from that under heads that are this near."""
        bend = 2 * rows.loss.bound * rows.mean(rows.lengths**2)
        slopes = sum(rows.slope(head) for head in heads)
        return error * slopes + len(heads) * bend * error**2 + 1e-12 * max(1e-3, rows.mean_loss(self.full))

    def end_error(self, rows: PlainProblem, error: float, *heads: Matrix) -> float:
        """Return the same for an end of an interval, which depends on the loss of each row and not only on their mean."""
        lengths = rows.lengths
        moved = [np.linalg.norm(rows.loss.errors(rows.x @ head.T, rows.y), axis=1) * lengths for head in heads]
        rises = sum(float(np.sqrt(rows.mean(each**2))) for each in moved)
        return 6 * error * rises + 3 * self.mean_error(rows, error, *heads)


def kept_l2(penalty: str, l2: float, n: float, worth: float) -> tuple[float, float]:
    """Return the l2 on rows worth so much out of n, by what stays fixed when training on less; then the other one."""
    scaled = {"mean": l2, "total": l2 * n / worth}
    return scaled.pop(penalty), *scaled.values()  # type: ignore[return-value]


def promised(problem: PlainProblem, fit: Fit) -> float:
    """Return how far a run's fit may be from the minimum: a share of the norm, or what rounding leaves of the gradient."""
    strength = float(problem.ridge.min())
    by_rounding = 2 * problem.rounding(fit.theta) / strength if strength else 0.0
    return max(2 * _PROMISED * float(np.linalg.norm(fit.theta)), by_rounding)
