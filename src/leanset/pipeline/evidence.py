"""Evaluations of a run, each computed once and, with a run folder, never twice."""

from dataclasses import dataclass, field

import numpy as np

from leanset._arrays import mask_of
from leanset._progress import Reporter
from leanset.pipeline.evaluate import Evaluation, evaluate, random_changes
from leanset.pipeline.formulations import Formulation
from leanset.pipeline.frontier import Frontier, FrontierPoint
from leanset.problem import Outcome
from leanset.runs import RunFolder

FULL_EFFORT = 1.0
LIGHT_EFFORT = 0.1  # for the many sizes of a frontier or a search over the size
_FRONTIER_DRAWS = 2


@dataclass
class Evidence:
    """A cache of evaluations by size and effort, mirrored in the run folder's stages."""

    formulation: Formulation
    reporter: Reporter
    folder: RunFolder | None
    _known: dict[tuple[int, float], Evaluation] = field(default_factory=dict)

    def at(self, count: int, effort: float = LIGHT_EFFORT) -> Evaluation:
        """Return the evaluation of a size."""
        key = count, effort
        if key not in self._known:
            self._known[key] = self._loaded(count, effort) or self._computed(count, effort)
        return self._known[key]

    def _computed(self, count: int, effort: float) -> Evaluation:
        with self.reporter.stage(f"Searching {count:,} to remove") as advance:
            answer = evaluate(self.formulation, count, effort, advance)
        self.keep(_stage_name(count, effort), answer)
        return answer

    def _loaded(self, count: int, effort: float) -> Evaluation | None:
        return self.recalled(_stage_name(count, effort))

    def keep(self, name: str, answer: Evaluation) -> None:
        """Write an evaluation to the run folder, if there is one."""
        if self.folder is None:
            return
        gap = np.nan if answer.validation_loss_gap is None else answer.validation_loss_gap
        changes = [answer.influence_change, answer.inverse_residual, answer.newton_change, answer.refit_change, gap]
        self.folder.save_stage(
            name, removed=np.flatnonzero(answer.removed), changes=np.array(changes), outcome=np.array(answer.outcome.name)
        )

    def recalled(self, name: str) -> Evaluation | None:
        """Read an evaluation back from the run folder, if it is there."""
        if self.folder is None or not self.folder.has_stage(name):
            return None
        stage = self.folder.load_stage(name)
        *changes, gap = stage["changes"].tolist()
        removed = mask_of(stage["removed"], len(self.formulation.ground.examples))
        return Evaluation(removed, Outcome[str(stage["outcome"])], *changes, None if np.isnan(gap) else gap)

    def frontier(self, counts: list[int], best: Evaluation) -> Frontier:
        """Return the frontier over some sizes and all sizes evaluated on the way, with the answer in its place."""
        n = len(self.formulation.ground.examples)
        for count in counts:
            self.at(count)
        chosen = {count: answer for (count, _), answer in sorted(self._known.items()) if count}
        if best.count:
            chosen[best.count] = best
        points = []
        with self.reporter.stage("Random removals along the frontier") as advance:
            for nth, (count, answer) in enumerate(sorted(chosen.items())):
                random = float(np.mean(list(random_changes(self.formulation.ground, count, _FRONTIER_DRAWS))))
                points.append(
                    FrontierPoint(
                        count, count / n, answer.newton_change, answer.refit_change, random, answer.validation_loss_gap
                    )
                )
                advance((nth + 1) / len(chosen))
        return Frontier(tuple(points))


def _stage_name(count: int, effort: float) -> str:
    return f"removal-{count}-{round(1000 * effort)}"
