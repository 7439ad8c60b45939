"""How much a run does: how many fits, products with the Hessian, influence vectors and exchanges."""

from dataclasses import dataclass

from leanset.cost.speeds import Line, Speeds
from leanset.plan import Plan
from leanset.rows import threads_of_pass
from leanset.select import expected_rounds, refits_of_comparison

# Typical numbers of steps, from runs on tables, digits and the heads of networks. They depend on the data.
_NEWTON_STEPS = 4  # of a fit that starts near its end
_LEAST_STEPS, _MORE_STEPS, _MOST_MORE = (
    12,
    80,
    60,
)  # of conjugate gradients for a refit; more where few rows hold many weights
_UNEVEN = 2.5  # times as many for rows with weights, whose Hessian is less like that of all rows
_LOOSE = 0.4  # of these, for a fit that need not be exact
_WEIGHING_STEPS = 60  # Newton steps for weights that cannot leave the head in place
_EXACT_WEIGHING_STEPS = 15  # for weights that can
_GRADIENT_STEPS = 200  # for the weights of a large head
_WEIGHTED_STARTS = 4
_PRECONDITIONER_ROWS = 4096  # at least; rows whose Hessian a fit from nothing is helped by
_ENOUGH = 2  # rows for each coordinate with which weights are usually exact


@dataclass(frozen=True)
class Shape:
    """The sizes that the cost of a run depends on.

    Attributes
    ----------
    n, width, outputs : examples, columns with the bias, outputs
    coordinates, movable : length and number of the influence vectors that a search exchanges
    explicit : whether the Hessian is stored as a matrix
    """

    n: int
    width: int
    outputs: int
    coordinates: int
    movable: int
    explicit: bool

    @property
    def size(self) -> int:
        """Number of weights of the head."""
        return self.outputs * self.width


@dataclass(frozen=True)
class Work:
    """Seconds of the parts that a run is made of."""

    plan: Plan
    shape: Shape
    speeds: Speeds

    def fit(self, rows: int, accuracy: float = 1.0) -> float:
        """Return the seconds of a fit from nothing, whose preconditioner is the Hessian of some of the rows."""
        sampled = min(rows, max(_PRECONDITIONER_ROWS, 4 * self.shape.width * self.shape.outputs))
        return self._spread(self.speeds.curve, sampled) + self.speeds.invert / 4 + self.refit(rows, accuracy)

    @property
    def inverse(self) -> float:
        """Seconds of the inverse of the Hessian of all rows."""
        return self._spread(self.speeds.curve, self.shape.n) + self.speeds.invert

    def vectors(self, rows: int) -> float:
        """Return the seconds of the influence vectors of some rows."""
        return self._spread(self.speeds.vector, rows)

    def refit(self, kept: int, accuracy: float = 1.0) -> float:
        """Return the seconds of a fit that starts near its end and knows a preconditioner."""
        products = accuracy * (_LEAST_STEPS + min(_MOST_MORE, _MORE_STEPS * self.shape.coordinates / kept))
        products *= _UNEVEN if self.plan.strategy.weighs else 1.0
        return products * (self.speeds.solve + self._spread(self.speeds.product, kept)) + self.looks(
            _NEWTON_STEPS, kept
        )

    def looks(self, times: float, rows: int) -> float:
        """Return the seconds of predictions, gradients and losses of some rows."""
        return times * self._spread(self.speeds.look, rows)

    def comparison(self, kept: int) -> float:
        """Return the seconds of the measurement of a random set."""
        return self.refit(kept) + self.looks(2, self.shape.n)

    def measurement(self, kept: int) -> float:
        """Return the seconds of a Newton step, and of losses and answers before and after."""
        return self.refit(kept, 0.6) + self.looks(3, self.shape.n)

    def search(self, effort: float, removed: int) -> float:
        """Return the seconds of the search for one size, and of the measurement of what it finds."""
        kept, strategy = self.shape.n - removed, self.plan.strategy
        if strategy.solver is None:
            return self.refit(kept) + self.measurement(kept)
        if not strategy.weighs:
            return self._exchanged(effort, kept) + self.measurement(kept)
        if not self._is_exact(kept):
            return self._weighed(kept, _WEIGHING_STEPS, _WEIGHTED_STARTS) + self._exchanged(effort, kept)
        exact = self._weighed(kept, _EXACT_WEIGHING_STEPS, 1)
        if self.plan.budget.is_size:
            return exact
        # A search for the fewest rows ends where weights just fail: about half of its trials do.
        failed = self._weighed(kept, _WEIGHING_STEPS, _WEIGHTED_STARTS) + self._exchanged(effort, kept)
        return (exact + failed) / 2

    def _exchanged(self, effort: float, kept: int) -> float:
        strategy, shape = self.plan.strategy, self.shape
        assert strategy.solver is not None
        if not strategy.refits:
            return self._moves(effort) + self.vectors(shape.movable)
        rounds, used = expected_rounds(effort)
        each = self.inverse + self.vectors(shape.movable) + self.refit(kept) + self.looks(2, shape.n)
        starts = 1 if self.plan.coverage is not None else 3
        exchanges = self._moves(effort * used) + (1 + rounds) * self.speeds.begin
        first = starts * self.refit(kept) + self.vectors(shape.movable)
        return first + rounds * each + exchanges + self._proof(kept)

    def _proof(self, kept: int) -> float:
        """Return the seconds of the comparison on held-out rows, which is made where a set is not far better than random."""
        chosen = self.plan.coverage is not None or self.plan.settings.minimise is not None
        if chosen or self.plan.strategy.weighs or kept >= self.shape.coordinates:
            return 0.0
        return refits_of_comparison(self.shape.n) * self.refit(kept, _LOOSE)

    def _moves(self, effort: float) -> float:
        assert self.plan.strategy.solver is not None
        solver = self.plan.strategy.solver.with_effort(effort)
        return solver.expected_seconds(self.shape.movable, self.shape.coordinates, self.speeds.move)

    def _is_exact(self, kept: int) -> bool:
        return self.shape.explicit and kept > _ENOUGH * self.shape.coordinates

    def _weighed(self, kept: int, steps: int, starts: int) -> float:
        """Return the seconds of the weights of some starts, of their refits and of the measurement of the best."""
        step = self._spread(self.speeds.curve, kept) + self.speeds.invert / 4
        weighing = steps * step if self.shape.explicit else self.looks(_GRADIENT_STEPS, kept)
        return starts * (weighing + self.refit(kept)) + self.measurement(kept)

    def _spread(self, line: Line, rows: int) -> float:
        """Return the seconds for some rows on all threads, which take them in chunks."""
        return line.call + line.row * rows / threads_of_pass(rows, self.shape.width + self.shape.outputs)
