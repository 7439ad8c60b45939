"""Estimate what a run would cost, from shapes alone and a short measurement of this machine.

The parts that a run is made of are timed on random rows of its shape (`speeds`) and multiplied by how often a run does them
(`work`). How many steps a fit takes and when a search stops depend on the data; `python -m benchmarks estimate` measures how
far that leads astray.
"""

from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from leanset._memory import BYTES_OF_A_ROW, Shares
from leanset._options import with_options
from leanset._progress import reporter_for
from leanset._threads import thread_count, working_threads
from leanset.cost.speeds import measured_speeds
from leanset.cost.work import Shape, Work
from leanset.data import Images
from leanset.head import HeadStatistics
from leanset.influence import Inverse, choose_inverse
from leanset.inputs import inputs_from, opened, refuse_network_options
from leanset.plan import Outline, Plan, plan_for
from leanset.select import FULL_EFFORT, LIGHT_EFFORT, SEARCH_EFFORT, expected_evaluations, ladder_counts
from leanset.settings import Settings

_INTERPRETER = 400 * 2**20  # Python with NumPy, SciPy, numba and Arrow loaded, and temporary arrays of the row chunks
_VALUES_OF_L2 = 4  # that are usually tried
_FOLDS, _JUDGED_ROWS = 5, 2000  # of heads that are fitted to choose l2
_FRONTIER_DRAWS = 2
_ROUGH = 0.3  # of the steps of an exact fit, for a fit that only has to be judged


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
        return _estimated(plan, outline)


def _with_network(images: Images, settings: Settings) -> Estimate:
    from leanset.capture import Network, network_seconds  # needs torch

    network = Network.for_images(images, settings)
    outline = network.outline()
    plan = plan_for(settings, outline)
    before = network_seconds(network, gradients=network.check_can_serve(plan.strategy))
    cost = estimate_plan(plan, outline)
    return replace(cost, stages=(*before, *cost.stages))


def _shape(plan: Plan, outline: Outline) -> tuple[Shape, Inverse]:
    n, width = len(outline), outline.width + 1
    memory = Shares.of(int(plan.settings.memory), n, width).vectors
    inverse = plan.settings.inverse or choose_inverse((plan.loss.outputs, width), memory)
    coordinates = inverse.vector_length(plan.loss, width)
    movable = min(n, plan.strategy.movable(n, coordinates), memory // (4 * coordinates))
    explicit = inverse.matrix_bytes(plan.loss.outputs * width) > 0
    return Shape(n, width, plan.loss.outputs, coordinates, movable, explicit), inverse


def _estimated(plan: Plan, outline: Outline) -> Estimate:
    shape, inverse = _shape(plan, outline)
    exchanged = 0 if plan.strategy.solver is None else shape.movable
    speeds = measured_speeds(
        plan.loss, shape.n, shape.width, inverse, shape.coordinates, exchanged, plan.settings.memory
    )
    work, n, by_size = Work(plan, shape, speeds), shape.n, plan.budget.is_size
    sizes = ladder_counts(n, plan.constraints.most)
    removed = plan.budget.size(n) if by_size else n // 2
    stages = [
        ("fitting the head", work.fit(n) + work.inverse),
        ("influence of every example", work.inverse + work.vectors(n)),
        ("searching", work.search(FULL_EFFORT, removed)),
    ]
    if plan.l2 is None:
        folds = 1 if outline.held_out else min(_FOLDS, -(-_JUDGED_ROWS * _FOLDS // n))
        stages.insert(0, ("choosing l2", _VALUES_OF_L2 * folds * work.fit(n, _ROUGH)))
    measured = sizes
    if not by_size:
        trials = expected_evaluations() - len(sizes)
        light = sum(work.search(LIGHT_EFFORT, count) for count in sizes)
        stages.append(("searching over the size", light + trials * work.search(SEARCH_EFFORT, removed)))
        measured = [*sizes, *[removed] * trials]
    if plan.settings.frontier:
        searched = [] if not by_size else [count for count in sizes if count != removed]
        draws = _FRONTIER_DRAWS * sum(work.comparison(n - count) for count in measured)
        stages.append(("frontier", sum(work.search(LIGHT_EFFORT, count) for count in searched) + draws))
    if plan.settings.suspects != "ignore" and plan.loss.targets == "classes" and outline.l2 is None:
        stages.append(("looking for wrong labels", _FOLDS * work.refit(n, _ROUGH)))
    certified = (plan.settings.random_draws + 1) * work.comparison(n - removed)
    return Estimate((*stages, ("certifying", certified)), _peak_memory(shape, outline.in_memory, plan.settings.memory))


def _peak_memory(shape: Shape, in_memory: int, memory: int) -> int:
    """Return the bytes of a run at its peak; `in_memory` are those of features that are in memory already."""
    design, shares = 8 * shape.n * shape.width, Shares.of(memory, shape.n, shape.width)
    rows = in_memory + (design if shares.copies_rows else 0)
    kept = min(design, shares.kept)
    heads = 2 * 8 * shape.n * shape.outputs if shares.stores(shape.n, shape.outputs) else 0
    matrices = 5 * 8 * shape.size**2 if shape.explicit else 0
    vectors = 4 * shape.movable * shape.coordinates + BYTES_OF_A_ROW * shape.n
    return int(_INTERPRETER + rows + kept + heads + vectors + matrices)
