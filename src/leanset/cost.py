"""Estimate what a run would cost, from shapes alone and a short measurement of this machine.

The estimate counts the floating-point operations of each stage and divides by the measured speed of a small matrix
product. It is accurate to a factor of about two.
"""

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from leanset._options import with_options
from leanset._progress import reporter_for
from leanset._threads import available_threads, thread_count, working_threads
from leanset.data import Images
from leanset.head import HeadStatistics
from leanset.influence import choose_inverse
from leanset.inputs import inputs_from, opened, refuse_network_options
from leanset.plan import Outline, Plan, plan_for
from leanset.select import (
    FULL_EFFORT,
    LIGHT_EFFORT,
    SEARCH_EFFORT,
    expected_evaluations,
    ladder_counts,
    refits_of_comparison,
    rounds_of,
)
from leanset.settings import Settings

_EFFICIENCY = 0.35  # of a large matrix product; measured on whole runs, where products are thin and memory-bound
_INTERPRETER = 400 * 2**20  # Python with NumPy, SciPy, numba and Arrow loaded, and temporary arrays of the row chunks
_FITS_FOR_L2 = 4  # values of l2 that are usually tried
_REFIT_STEPS = 60  # products of a refit: some Newton steps with conjugate gradients
_MEASURES = 40  # products of a Newton step, and of losses and answers before and after
_WEIGHING = 400  # products of the weights for one start of a large head
_CALL = 0.03  # seconds of a refit on next to no data


@dataclass(frozen=True)
class Estimate:
    """Estimated seconds per stage and peak memory in bytes of a run.

    Examples
    --------
    >>> Estimate(stages=(("reading", 1.5), ("searching", 20.0)), memory=2**30).seconds
    21.5
    """

    stages: tuple[tuple[str, float], ...]
    memory: int

    @property
    def seconds(self) -> float:
        """Total over the stages."""
        return sum(seconds for _, seconds in self.stages)

    def to_dict(self) -> dict[str, object]:
        """Return plain values, ready for JSON."""
        return {"seconds": self.seconds, "memory_bytes": self.memory, "stages": dict(self.stages)}


@with_options(Settings)
def estimate(
    features: "str | ArrayLike | Images | HeadStatistics", labels: ArrayLike | None, settings: Settings
) -> Estimate:
    """Estimate what `leanset.prune` would cost with the same arguments, without running it.

    Parameters
    ----------
    features, labels, settings : as for `leanset.prune`
    {options}

    Examples
    --------
    >>> import numpy as np, leanset
    >>> cost = leanset.estimate(np.random.default_rng(0).normal(size=(200, 4)), np.arange(200) % 2, fraction=0.4)
    >>> cost.seconds > 0, [stage for stage, _ in cost.stages][0]
    (True, 'choosing l2')
    """
    _ = settings.budget  # before anything is read
    with thread_count(settings.threads), reporter_for(settings.progress) as reporter:
        source = opened(features, labels, settings, reporter)
        if isinstance(source, Images):
            return _with_network(source, settings)
        refuse_network_options(settings)
        outline = inputs_from(source, settings).outline()
        return estimate_plan(plan_for(settings, outline), outline)


def estimate_plan(plan: Plan, outline: Outline) -> Estimate:
    """Estimate a run whose head statistics are available."""
    with working_threads(plan.settings.threads):
        return _estimated(plan, _shape(plan, outline))


def _with_network(images: Images, settings: Settings) -> Estimate:
    from leanset.capture import Network, network_seconds  # needs torch

    network = Network.for_images(images, settings)
    outline = network.outline()
    plan = plan_for(settings, outline)
    before = network_seconds(network, gradients=network.check_can_serve(plan.strategy))
    cost = estimate_plan(plan, outline)
    return replace(cost, stages=(*before, *cost.stages))


@dataclass(frozen=True)
class _Shape:
    n: int
    width: int
    outputs: int
    coordinates: int
    movable: int
    explicit: bool

    @property
    def size(self) -> int:
        return self.outputs * self.width

    @property
    def product(self) -> float:
        return 4.0 * self.n * self.size

    @property
    def hessian(self) -> float:
        if self.explicit:
            return self.n * (float(self.size) ** 2 + 2 * self.size * self.width) + self.size**3
        return 4.0 * self.n * self.width**2 + 20.0 * self.width**3  # two passes and the eigenvectors of the features


def _shape(plan: Plan, outline: Outline) -> _Shape:
    n, width, memory = len(outline), outline.width + 1, plan.settings.memory
    inverse = plan.settings.inverse or choose_inverse((plan.loss.outputs, width), memory)
    coordinates = inverse.vector_length(plan.loss, width)
    movable = min(n, plan.strategy.movable(n, coordinates), memory // (4 * coordinates))
    explicit = inverse.matrix_bytes(plan.loss.outputs * width) > 0
    return _Shape(n, width, plan.loss.outputs, coordinates, movable, explicit)


def _estimated(plan: Plan, shape: _Shape) -> Estimate:
    work = _Work(plan, shape, _EFFICIENCY * _product_speed() * available_threads())
    sizes, by_size = len(ladder_counts(shape.n, plan.constraints.most)), plan.budget.is_size
    removed = plan.budget.size(shape.n) if by_size else shape.n // 2
    stages = [
        ("fitting the head", work.fitting),
        ("influence of every example", work.vectors),
        ("searching", work.search(FULL_EFFORT, removed)),
    ]
    if not by_size:
        trials = expected_evaluations() - sizes
        stages.append(("searching over the size", trials * work.search(SEARCH_EFFORT, removed)))
    if plan.settings.frontier or not by_size:
        stages.append(("frontier", sizes * (work.search(LIGHT_EFFORT, shape.n // 2) + 2 * work.measured_refit)))
    if plan.l2 is None:
        stages.insert(0, ("choosing l2", _FITS_FOR_L2 * min(5, 1 + 10_000 // shape.n) * work.fitting / 2))
    if plan.settings.suspects != "ignore" and plan.loss.targets == "classes":
        stages.append(("looking for wrong labels", 5 * work.refit / 2))
    stages.append(("certifying", plan.settings.random_draws * work.measured_refit))
    return Estimate(tuple(stages), _peak_memory(shape))


@dataclass(frozen=True)
class _Work:
    """Seconds of the parts that a run is made of, at a rate of `rate` operations a second."""

    plan: Plan
    shape: _Shape
    rate: float

    @property
    def fitting(self) -> float:
        return _CALL + (100 * self.shape.product + 2 * self.shape.hessian) / self.rate

    @property
    def vectors(self) -> float:
        shape = self.shape
        return 2.0 * shape.n * shape.coordinates * (shape.coordinates if shape.explicit else 2) / self.rate

    @property
    def refit(self) -> float:
        return _CALL + _REFIT_STEPS * self.shape.product / self.rate

    @property
    def measured_refit(self) -> float:
        return self.refit + _MEASURES * self.shape.product / self.rate

    def search(self, effort: float, removed: int) -> float:
        """Return the seconds of the search for one size."""
        shape, strategy = self.shape, self.plan.strategy
        if strategy.solver is None:
            return self.measured_refit
        if strategy.weighs and shape.explicit and shape.n - removed > 2 * shape.coordinates:
            # The first start has exact weights.
            return self.measured_refit + 10.0 * (shape.n - removed) * shape.coordinates**2 / self.rate
        moved = 2.0 * shape.movable * shape.coordinates**2 * shape.explicit
        each_round = self.refit + (shape.hessian / 2 + moved + shape.product) / self.rate
        moves = 1e-7 + 4.5e-10 * shape.coordinates  # seconds for one exchange; depends on the length of a row
        exchanges = strategy.solver.with_effort(effort).expected_seconds(shape.movable, shape.coordinates, moves)
        # The comparison with a random set on held-out rows is not always made.
        compared = 0.0 if strategy.weighs else refits_of_comparison(shape.n) * self.refit / 2
        starts = compared + 3 * self.refit + (3 * _WEIGHING * shape.product / self.rate if strategy.weighs else 0.0)
        return starts + rounds_of(effort) * each_round + exchanges + self.measured_refit


def _peak_memory(shape: _Shape) -> int:
    design = 8 * shape.n * shape.width
    heads = 8 * shape.n * shape.outputs
    matrices = 5 * 8 * shape.size**2 if shape.explicit else 0
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
