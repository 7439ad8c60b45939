"""Evaluations of a run, each computed once and, with a run folder, never twice."""

from dataclasses import dataclass, field

import numpy as np

from leanset._arrays import Vector, mask_of
from leanset._progress import Advance, Reporter, part_of
from leanset.pipeline.evaluate import Evaluation, evaluate, random_changes
from leanset.pipeline.formulations import Formulation
from leanset.pipeline.frontier import Frontier, FrontierPoint
from leanset.problem import Outcome
from leanset.runs import RunFolder

FULL_EFFORT = 1.0
SEARCH_EFFORT = 0.3  # for the last steps of a search over the size
LIGHT_EFFORT = 0.0625  # for the many sizes of a frontier
_FRONTIER_DRAWS = 2


@dataclass
class Evaluations:
    """A cache of evaluations by size and effort, mirrored in the run folder's stages."""

    formulation: Formulation
    reporter: Reporter
    folder: RunFolder | None
    _known: dict[tuple[int, float], Evaluation] = field(default_factory=dict)

    def at(self, count: int, effort: float, advance: Advance) -> Evaluation:
        """Return the evaluation of a size."""
        key = count, effort
        if key not in self._known:
            name = f"removal-{count}-{round(1000 * effort)}"
            answer = self.recalled(name)
            if answer is None:
                answer = evaluate(self.formulation, count, effort, advance)
                self.keep(name, answer)
            self._known[key] = answer
        return self._known[key]

    def keep(self, name: str, answer: Evaluation) -> None:
        """Write an evaluation to the run folder, if there is one."""
        if self.folder is None:
            return
        gap = np.nan if answer.validation_loss_gap is None else answer.validation_loss_gap
        changes = [answer.influence_change, answer.inverse_residual, answer.newton_change, answer.refit_change, gap]
        self.folder.save_stage(
            name,
            removed=np.flatnonzero(answer.removed),
            changes=np.array(changes),
            outcome=np.array(answer.outcome.name),
        )

    def recalled(self, name: str) -> Evaluation | None:
        """Read an evaluation back from the run folder, if it is there."""
        if self.folder is None or not self.folder.has_stage(name):
            return None
        stage = self.folder.load_stage(name)
        influence, residual, newton, measured, gap = stage["changes"].tolist()
        removed = mask_of(stage["removed"], len(self.formulation.ground.examples))
        outcome = Outcome[str(stage["outcome"])]
        return Evaluation(removed, outcome, influence, residual, newton, measured, None if np.isnan(gap) else gap)

    def random_changes(self, count: int, draws: int, advance: Advance) -> Vector:
        """Return the measured changes of random removals of a size."""
        name = f"random-{count}-{draws}"
        if self.folder is not None and self.folder.has_stage(name):
            return self.folder.load_stage(name)["changes"]
        changes = np.zeros(draws)
        for nth, change in enumerate(random_changes(self.formulation.ground, count, draws)):
            changes[nth] = change
            advance((nth + 1) / draws)
        if self.folder is not None:
            self.folder.save_stage(name, changes=changes)
        return changes

    def frontier(self, counts: list[int], best: Evaluation) -> Frontier:
        """Return the frontier over some sizes and all sizes evaluated on the way, with the answer in its place."""
        counts = [count for count in counts if count != best.count]
        with self.reporter.stage(f"Frontier, {len(counts)} sizes", units=len(counts), unit="sizes") as advance:
            for nth, count in enumerate(counts):
                self.at(count, LIGHT_EFFORT, part_of(advance, nth, len(counts)))
        chosen: dict[int, Evaluation] = {}
        for answer in self._known.values():
            known = chosen.get(answer.count)
            if answer.count and (known is None or answer.refit_change < known.refit_change):
                chosen[answer.count] = answer
        if best.count:
            chosen[best.count] = best
        with self.reporter.stage("Random removals of those sizes", units=len(chosen), unit="sizes") as advance:
            points = []
            for nth, answer in enumerate(chosen[count] for count in sorted(chosen)):
                points.append(self._point(answer, part_of(advance, nth, len(chosen))))
        return Frontier(tuple(points))

    def _point(self, answer: Evaluation, advance: Advance) -> FrontierPoint:
        return FrontierPoint(
            removed=answer.count,
            fraction=answer.count / len(answer.removed),
            newton_change=answer.newton_change,
            refit_change=answer.refit_change,
            random_refit_change=float(self.random_changes(answer.count, _FRONTIER_DRAWS, advance).mean()),
            validation_loss_gap=answer.validation_loss_gap,
        )
