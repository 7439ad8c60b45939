import itertools
from dataclasses import replace

from leanset._progress import part_of
from leanset.problem import Outcome, Removal
from leanset.select.budget import Budget
from leanset.select.cache import LIGHT_EFFORT, SEARCH_EFFORT, MeasuredSizes
from leanset.select.measure import measured
from leanset.select.sizes import expected_evaluations, largest_within


def answer_within(budget: Budget, sizes: MeasuredSizes) -> Removal:
    """Return the best set of the size that the budget gives, or the largest set within its limit."""
    task = sizes.search.task
    if budget.is_size:
        return sizes.best(budget.size(len(task)))
    limit = budget.limit(task.head.norm)
    if sizes.search.strategy.grows_by_prediction:
        return _largest_by_prediction(sizes, limit)
    return _largest_by_measurement(sizes, budget, limit)


def _largest_by_measurement(sizes: MeasuredSizes, budget: Budget, limit: float) -> Removal:
    task = sizes.search.task
    most = task.constraints.most
    if budget.has_floor:
        most = min(most, len(task) - min(task.head.free_weights, len(task) // 10))
    expected, visited = expected_evaluations(), itertools.count()
    with sizes.reporter.stage("Largest set within the budget", units=expected, unit="sizes") as advance:

        def at(count: int, effort: float) -> Removal:
            return sizes.at(count, effort, part_of(advance, min(next(visited), expected - 1), expected))

        size, effort = largest_within(
            lambda count, effort: budget.measured(at(count, effort).measured) <= limit,
            len(task),
            most,
            quick=LIGHT_EFFORT,
            thorough=SEARCH_EFFORT,
        )
        found = at(size, effort)
    if size == 0:
        return found
    full = sizes.best(size)
    answer = full if budget.measured(full.measured) <= budget.measured(found.measured) else found
    return replace(answer, outcome=Outcome.floor) if budget.has_floor and size == most else answer


def _largest_by_prediction(sizes: MeasuredSizes, limit: float) -> Removal:
    answer = sizes.recalled("largest")
    if answer is None:
        with sizes.reporter.stage("Largest set by prediction", units=100, unit="%") as advance:
            found = sizes.search.largest(limit, advance)
        answer = measured(sizes.search, found)
        sizes.keep("largest", answer)
    return answer
