"""How fast this machine does what a run is made of, timed on random rows of the run's own shape.

The code that is timed is the code that a run executes. Times are those of the processor, on one thread: what else the machine
does at that moment says nothing about a run.
"""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from leanset._linalg import conjugate_gradients
from leanset._memory import Shares
from leanset._threads import working_threads
from leanset.head import Design, FittedHead, Loss
from leanset.influence import Inverse, influence_map, prepare_inverses
from leanset.problem import BestSetProblem
from leanset.rows import MemoryRows, RowTable, ScaledRows
from leanset.solve import AdaptiveAnnealing

_TIMES = ((0.02, 5), (0.5, 3), (np.inf, 1))  # how often work is timed, by the seconds that this has taken so far
_ENTRIES = 2_000_000  # numbers in the rows and their gradients that are timed
_FEWEST_ROWS = 256
_LARGEST_MATRIX = 1000  # side; larger ones are timed at this size, and their time is that many times as long, cubed
_STEPS = 4  # of conjugate gradients
_FEWER = 8  # times fewer rows, to tell what a call costs from what its rows cost
_MOVES = 50_000, 400_000  # exchanges; the difference is free of what a search does once
_L2 = 1e-2


@dataclass(frozen=True)
class Line:
    """Seconds of work on rows: those of any call, and those of each row.

    Examples
    --------
    >>> Line.through((10, 3.0), (20, 5.0))
    Line(call=1.0, row=0.2)
    """

    call: float
    row: float

    @classmethod
    def through(cls, few: tuple[int, float], many: tuple[int, float]) -> "Line":
        """Return the line through two timings, each of a number of rows; neither part is negative."""
        (rows, seconds), (more, longer) = few, many
        row = max(0.0, (longer - seconds) / (more - rows)) if more > rows else longer / more
        return cls(max(0.0, longer - row * more), row)

    def times(self, factor: float) -> "Line":
        """Return the line for rows that take `factor` times as long."""
        return Line(self.call, factor * self.row)


@dataclass(frozen=True)
class Speeds:
    """Seconds on one thread.

    Attributes
    ----------
    look : predictions, gradient and loss of rows
    product : rows times the Hessian
    curve : the Hessian of rows, or its approximation
    vector : influence vectors of rows
    solve : one use of the preconditioner
    invert : what an inverse costs beyond the Hessian
    move : one exchange
    begin : what a search costs before its first exchange
    """

    look: Line
    product: Line
    curve: Line
    vector: Line
    solve: float
    invert: float
    move: float
    begin: float


@functools.lru_cache(maxsize=64)
def measured_speeds(
    loss: Loss, n: int, width: int, inverse: Inverse, coordinates: int, movable: int, memory: int
) -> Speeds:
    """Time the parts of a run on random rows; once for each shape.

    Parameters
    ----------
    loss, n, width : of the head's problem; the width counts the bias
    inverse : how the Hessian is inverted
    coordinates, movable : length and number of the influence vectors that a search exchanges; 0 if nothing is searched for
    memory : of the run; rows and outputs that do not fit it are scaled and computed in each pass, here, too
    """
    size = loss.outputs * width
    explicit = inverse.matrix_bytes(size) > 0
    narrow = max(2, min(width, _LARGEST_MATRIX // loss.outputs)) if explicit else width
    larger = width / narrow
    with working_threads(1):
        few, many = _heads(loss, width, n, memory)
        small = _heads(loss, narrow, n, memory)
        head = small[1]
        inverses = prepare_inverses(head, inverse, Shares.of(memory, n, width).vectors)
        guide = influence_map(head, inverse, prepared=inverses.sums)
        rows = min(movable, max(_FEWEST_ROWS, 4 * _ENTRIES // coordinates))
        begin, move = _exchanges(rows, coordinates) if rows > 1 else (0.0, 0.0)
        curve = _line(_curved if explicit else _approximated, *small)
        whole = _seconds(lambda: influence_map(head, inverse, weights=np.ones(len(head))))
        # An approximation turns a matrix of the features' size as well, which no number of rows changes.
        invert = max(0.0, whole - curve.call - curve.row * len(head)) * larger**3
        return Speeds(
            look=_line(_looked, few, many),
            product=_line(_stepped, few, many, _STEPS + 1),  # one more product measures the residual
            curve=curve.times(larger**2),
            vector=_line(lambda each: guide.vectors(np.arange(len(each))), *small).times(larger**2),
            solve=_seconds(lambda: inverses.precondition(head.theta[None])) * larger**2,
            invert=invert,
            move=move,
            begin=begin,
        )


def _heads(loss: Loss, width: int, n: int, memory: int) -> tuple[FittedHead, FittedHead]:
    """Return heads on few random rows and on many."""
    count = min(n, max(_FEWEST_ROWS, _ENTRIES // (loss.outputs * width)))
    shares = Shares.of(memory, n, width)
    kept = memory if shares.stores(n, loss.outputs) else 0

    def head_on(rows: int) -> FittedHead:
        rng = np.random.default_rng(0)
        classes = rng.integers(0, loss.outputs, rows)
        targets = classes if loss.targets == "classes" else np.eye(loss.outputs)[classes]
        table: RowTable = MemoryRows(rng.normal(size=(rows, width)))
        if not shares.copies_rows:
            plain = MemoryRows(rng.standard_normal((rows, width - 1), dtype=np.float32))
            table = ScaledRows(plain, np.zeros(width - 1), np.ones(width - 1), 1.0)
        design = Design(table, targets, loss, memory=kept)
        return FittedHead.at(design, 0.1 * rng.normal(size=design.shape), _L2)

    return head_on(-(-count // _FEWER)), head_on(count)


def _line(work: Callable[[FittedHead], object], few: FittedHead, many: FittedHead, times: int = 1) -> Line:
    """Time a piece of work, which does something `times` times, on few and on many rows."""
    points = [(len(head), _seconds(lambda head=head: work(head)) / times) for head in (few, many)]  # type: ignore[misc]
    return Line.through(*points)


def _looked(head: FittedHead) -> None:
    predicted = head.design.predicted(head.theta)
    head.design.gradient_at(predicted)
    head.design.objective(head.theta, _L2)


def _stepped(head: FittedHead) -> None:
    """Take steps of conjugate gradients without a preconditioner."""
    conjugate_gradients(
        head.curvature().apply, head.theta[None], precondition=np.copy, tolerance=0.0, max_iterations=_STEPS
    )


def _curved(head: FittedHead) -> None:
    head.curvature().hessian()


def _approximated(head: FittedHead) -> None:
    replace(head.curvature()).kronecker()  # a new one each time, because it remembers


def _exchanges(rows: int, width: int) -> tuple[float, float]:
    """Return the seconds that a search takes before its first exchange, and for one exchange of a chain."""
    rng = np.random.default_rng(0)
    # Lengths of influence vectors differ much: most rows hardly move the head.
    vectors = (rng.standard_normal((rows, width), dtype=np.float32).T * np.exp(rng.normal(size=rows))).T
    problem = BestSetProblem(
        np.ascontiguousarray(vectors, dtype=np.float32), np.zeros(rows, dtype=np.int64), rng.random(rows) < 0.5
    )

    def seconds(moves: int) -> float:
        return _seconds(lambda: AdaptiveAnnealing(proposals=moves, chains=1).search(problem, 0, lambda done: None))

    few, many = map(seconds, _MOVES)
    move = max(0.0, many - few) / (_MOVES[1] - _MOVES[0])
    return max(0.0, few - move * _MOVES[0]), move


def _seconds(work: Callable[[], object]) -> float:
    """Return the least seconds of the processor for a piece of work; the first time does not count."""
    work()
    times: list[float] = []
    while len(times) < next(most for seconds, most in _TIMES if sum(times) < seconds):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)
