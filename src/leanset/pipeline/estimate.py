"""What a run would cost, from shapes alone and one short measurement of this machine.

Counts the floating-point work of each stage and divides by the speed of a small matrix product; good to a factor of
about two, which is what one needs to know before starting.
"""

import time
from dataclasses import dataclass

import numpy as np

from leanset._threads import available_threads, working_threads
from leanset.influence import Kronecker, choose_inverse
from leanset.pipeline.budgets import expected_evaluations, ladder_counts
from leanset.pipeline.evaluations import FULL_EFFORT, LIGHT_EFFORT, SEARCH_EFFORT
from leanset.pipeline.formulations import most_movable
from leanset.pipeline.settings import PruneSettings
from leanset.solve import AdaptiveAnnealing, SimulatedAnnealing

_EFFICIENCY = 0.35  # of a large matrix product; measured on whole runs, where products are thin and memory-bound
_INTERPRETER = 400 * 2**20  # Python with NumPy, SciPy, numba and Arrow loaded, and the temporaries of the row chunks
_CG_STEPS = 25  # Hessian products of a refit or a Newton step with the full Hessian as preconditioner


@dataclass(frozen=True)
class Estimate:
    """Seconds by stage and peak memory in bytes of a run that has not been started."""

    stages: tuple[tuple[str, float], ...]
    memory: int

    @property
    def seconds(self) -> float:
        """Total over the stages."""
        return sum(seconds for _, seconds in self.stages)

    def to_dict(self) -> dict[str, object]:
        """Return plain values, ready for JSON."""
        return {"seconds": self.seconds, "memory_bytes": self.memory, "stages": dict(self.stages)}


@dataclass(frozen=True)
class _Shape:
    n: int
    width: int
    n_classes: int
    coordinates: int
    movable: int
    explicit: bool

    @property
    def product(self) -> float:
        return 4.0 * self.n * self.n_classes * self.width

    @property
    def hessian(self) -> float:
        size = self.n_classes * self.width
        return self.n * (float(size) ** 2 + 2 * size * self.width) + size**3 if self.explicit else 10 * self.product


def estimate(
    n: int, features: int, n_classes: int, settings: PruneSettings, most: int, *, threads: int | None = None
) -> Estimate:
    """Estimate a run on n examples without doing any of it.

    Parameters
    ----------
    n, features, n_classes : size of the data
    settings : the run's settings
    most : how many examples may go at most
    threads : worker threads; all cores if None
    """
    with working_threads(threads):
        return _estimated(_shape(n, features + 1, n_classes, settings), settings, most)


def _estimated(shape: _Shape, settings: PruneSettings, most: int) -> Estimate:
    rate = _EFFICIENCY * _product_speed() * available_threads()
    moves = 1e-7 + 4.5e-10 * shape.coordinates  # seconds for one exchange; the row's length decides
    solver = settings.solver or (AdaptiveAnnealing() if settings.formulation == "newton" else SimulatedAnnealing())

    def search(effort: float, rounds: int) -> float:
        if settings.method is not None:  # nothing is searched for, only measured
            return 2 * _CG_STEPS * shape.product / rate
        each_round = (
            shape.hessian / 2 + 2.0 * shape.movable * shape.coordinates**2 * shape.explicit + _CG_STEPS * shape.product
        )
        return (rounds * each_round + _CG_STEPS * shape.product) / rate + solver.lighter(effort).expected_seconds(
            shape.movable, moves
        )

    n, sizes = shape.n, len(ladder_counts(shape.n, most))
    stages = [
        ("fitting the head", (100 * shape.product + 2 * shape.hessian) / rate),
        (
            "influence of every example",
            2.0 * n * shape.coordinates * (shape.coordinates if shape.explicit else 2) / rate,
        ),
        ("searching", search(FULL_EFFORT, 4)),
    ]
    if not settings.budget.is_size:
        stages.append(("searching over the size", (expected_evaluations() - sizes) * search(SEARCH_EFFORT, 3)))
    if settings.frontier or not settings.budget.is_size:
        stages.append(("frontier", sizes * (search(LIGHT_EFFORT, 2) + 2 * _CG_STEPS * shape.product / rate)))
    stages.append(("certifying", settings.random_draws * 2 * _CG_STEPS * shape.product / rate))
    return Estimate(tuple(stages), _peak_memory(shape))


def _shape(n: int, width: int, n_classes: int, settings: PruneSettings) -> _Shape:
    inverse = settings.inverse or choose_inverse((n_classes, width), settings.memory)
    explicit = not isinstance(inverse, Kronecker)
    coordinates = (n_classes - 1) * width
    if isinstance(inverse, Kronecker):
        coordinates = min(coordinates, inverse.directions)
    places = most_movable(n, coordinates) if settings.formulation == "newton" else n
    return _Shape(n, width, n_classes, coordinates, min(n, places, settings.memory // (4 * coordinates)), explicit)


def _peak_memory(shape: _Shape) -> int:
    size = shape.n_classes * shape.width
    design = 8 * shape.n * shape.width
    heads = 8 * shape.n * shape.n_classes
    matrices = 5 * 8 * size**2 if shape.explicit else 0
    return int(_INTERPRETER + 2 * design + 4 * heads + 4 * shape.movable * shape.coordinates + matrices)


def _product_speed(size: int = 700) -> float:
    square = np.ones((size, size))
    square @ square
    best = min(_timed(square) for _ in range(3))
    return 2.0 * size**3 / best


def _timed(square: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    began = time.perf_counter()
    square @ square
    return time.perf_counter() - began
