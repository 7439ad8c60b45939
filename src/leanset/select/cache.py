"""Measured removals by size; each is computed once, and saved if there is a run folder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from leanset._arrays import AnyArray, mask_of, some_places
from leanset._errors import DivergenceError
from leanset._progress import Advance, Reporter, part_of
from leanset.problem import Effect, Outcome, Quality, RandomRemovals, Removal
from leanset.runs import RunFolder
from leanset.select.frontier import Frontier, FrontierPoint
from leanset.select.measure import random_removals, searched
from leanset.select.strategy import Search

FULL_EFFORT = 1.0
SEARCH_EFFORT = 0.3  # for the last steps of a search over the size
LIGHT_EFFORT = 0.0625  # for the many sizes of a frontier
_FRONTIER_DRAWS = 2


@dataclass
class MeasuredSizes:
    """A cache of removals by size and effort, also saved in the stages of the run folder."""

    search: Search
    reporter: Reporter
    folder: RunFolder | None
    _known: dict[tuple[int, float], Removal] = field(default_factory=dict)

    def best(self, count: int) -> Removal:
        """Return the best set of a size, found with full effort."""
        with self.reporter.stage(f"Best {count:,} to remove", units=100, unit="%") as advance:
            return self.at(count, FULL_EFFORT, advance)

    def at(self, count: int, effort: float, advance: Advance) -> Removal:
        """Return the best set of a size, found with some effort, and measured."""
        key = count, effort
        if key not in self._known:
            name = f"removal-{count}-{round(1000 * effort)}"
            answer = self.recalled(name)
            if answer is None:
                answer = searched(self.search, count, effort, advance)
                self.keep(name, answer)
            self._known[key] = answer
        return self._known[key]

    def keep(self, name: str, answer: Removal) -> None:
        """Save a measured removal in the run folder, if there is one."""
        if self.folder is None:
            return
        effect = answer.measured
        changes = [effect.influence_change, effect.inverse_residual, effect.newton_change, effect.refit_change]
        qualities = (effect.training, effect.validation)
        self.folder.save_stage(
            name,
            removed=np.flatnonzero(answer.removed),
            changes=np.array(changes),
            qualities=np.array([quality.numbers() for quality in qualities if quality is not None]),
            outcome=np.array(answer.outcome.name),
            **({} if answer.row_weights is None else {"weights": answer.row_weights}),
        )

    def recalled(self, name: str) -> Removal | None:
        """Load a measured removal from the run folder; None if it is not there."""
        return None if self.folder is None else self.folder.recalled(name, self._removal_in)

    def _removal_in(self, stage: dict[str, AnyArray]) -> Removal:
        n = len(self.search.task)
        removed = mask_of(some_places(stage["removed"], n), n)
        training, *validation = map(Quality.from_numbers, stage["qualities"])
        influence, residual, newton, change = map(float, stage["changes"].tolist())
        weights = stage.get("weights")
        if weights is not None and (weights.shape != (n,) or weights.dtype.kind != "f"):
            raise ValueError(f"weights must be {n:,} numbers")
        if bool(validation) != (self.search.task.validation is not None):
            raise ValueError("it was measured on other data")
        effect = Effect(influence, residual, newton, change, training, validation[0] if validation else None)
        return Removal(removed, Outcome[str(stage["outcome"])], effect=effect, row_weights=weights)

    def random_removals(self, count: int, draws: int, advance: Advance) -> RandomRemovals:
        """Return what random removals of a size do, measured."""
        name = f"random-{count}-{draws}"
        known = None if self.folder is None else self.folder.recalled(name, partial(self._random_in, draws=draws))
        if known is not None:
            return known
        found = random_removals(self.search, count, draws, lambda done: advance(done / draws))
        if self.folder is not None:
            self.folder.save_stage(
                name,
                changes=found.changes,
                training=np.array([quality.numbers() for quality in found.training]),
                validation=np.array([quality.numbers() for quality in found.validation]),
                losses=found.losses,
            )
        return found

    def _random_in(self, stage: dict[str, AnyArray], draws: int) -> RandomRemovals:
        training, validation = (tuple(map(Quality.from_numbers, stage[key])) for key in ("training", "validation"))
        changes, losses = (np.asarray(stage[key], dtype=np.float64) for key in ("changes", "losses"))
        held_out = self.search.task.validation
        judged = len(self.search.task) if held_out is None else len(held_out)
        shapes = [changes.shape, losses.shape, len(training), len(validation)]
        if shapes != [(draws,), (judged,), draws, 0 if held_out is None else draws]:
            raise ValueError(f"{draws} random removals cannot have the shapes {shapes}")
        return RandomRemovals(changes, training, validation, losses)

    def random_baseline(self, count: int, draws: int) -> RandomRemovals:
        """Return what random removals of the answer's size do, for the certificate."""
        with self.reporter.stage("Refits of random removals", units=draws, unit="refits") as advance:
            return self.random_removals(count, draws, advance)

    def frontier(self, counts: list[int], best: Removal) -> Frontier:
        """Return the frontier over the given sizes and all sizes measured so far, including the answer."""
        counts = [count for count in counts if count != best.count]
        with self.reporter.stage(f"Frontier, {len(counts)} sizes", units=len(counts), unit="sizes") as advance:
            for nth, count in enumerate(counts):
                with self._where_a_minimum_exists():
                    self.at(count, LIGHT_EFFORT, part_of(advance, nth, len(counts)))
        chosen: dict[int, Removal] = {}
        for answer in self._known.values():
            known = chosen.get(answer.count)
            if answer.count and (known is None or answer.measured.refit_change < known.measured.refit_change):
                chosen[answer.count] = answer
        if best.count:
            chosen[best.count] = best
        points = []
        with self.reporter.stage("Random removals of those sizes", units=len(chosen), unit="sizes") as advance:
            for nth, count in enumerate(sorted(chosen)):
                with self._where_a_minimum_exists():
                    points.append(self._point(chosen[count], part_of(advance, nth, len(chosen))))
        return Frontier(tuple(points))

    @contextmanager
    def _where_a_minimum_exists(self) -> Iterator[None]:
        """Pass over a size of the frontier on which a head without a penalty has no minimum."""
        try:
            yield
        except DivergenceError:
            if self.search.task.head.l2 > 0:
                raise

    def _point(self, answer: Removal, advance: Advance) -> FrontierPoint:
        effect, random = answer.measured, self.random_removals(answer.count, _FRONTIER_DRAWS, advance)
        return FrontierPoint(
            removed=answer.count,
            fraction=answer.count / len(answer.removed),
            newton_change=effect.newton_change,
            refit_change=effect.refit_change,
            random_refit_change=float(random.changes.mean()),
            validation_loss_gap=None if effect.validation is None else effect.validation.loss_gap.mean,
            same_answers=effect.judged.same_answers,
            random_refit_change_low=float(random.changes.min()),
            random_refit_change_high=float(random.changes.max()),
            random_validation_loss_gap=_mean([quality.loss_gap.mean for quality in random.validation]),
            random_same_answers=_mean([quality.same_answers for quality in random.judged]),
        )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
