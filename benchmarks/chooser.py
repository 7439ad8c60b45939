"""What is lost if a cheaper training chooses: fewer epochs, or a smaller network, than the one that is trained on the set.

All of CIFAR-10. The network that methods look at is `quick` for a few epochs instead of ten, each with the whole course of
its learning rate, or a smaller network. leanset chooses by what that training recorded, and `quick` is trained on what is
kept for its ten epochs, as in the study in results/cifar10 (`leanset compare`, see docs/comparison.md), whose rows of the
same seeds are beside them: chosen by `quick` after ten epochs, and drawn at random. Cost is the arithmetic of the training
that chooses, as a share of one training on all data. Tested on the test batch. "In common" is how much of what stays is the
same, on average over draws, as by ten epochs of `quick`: with leanset's rule, and if it took a short training for a long one.

Finished trainings stay in `chooser/` beside the record, so that an interrupted benchmark goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks._data import cifar10_folder, first_images
from benchmarks._record import Findings, Request, Row
from benchmarks._shares import likely_to_stay
from leanset.evaluate import EQUAL_EPOCHS, Job, Study, asked
from leanset.judge import LEANSET, STRATIFIED
from leanset.scores import Evidence
from leanset.select import LearningRecord
from leanset.training import Recipe, preset, preset_of

SEEDS = (1,)


@dataclass(frozen=True)
class Chooser:
    """A network, how long it is trained, and the shares to remove by what it recorded."""

    model: str
    epochs: int
    fractions: tuple[float, ...] = (0.8,)

    @property
    def recipe(self) -> Recipe:
        """Its preset, for its number of epochs."""
        return replace(preset(preset_of(self.model)), precision="fastest", epochs=self.epochs)

    @property
    def folder(self) -> str:
        """Where its study lies."""
        return f"{self.model}-{self.epochs}-epochs"


CHOOSERS = (
    Chooser("quick-narrow", 10, (0.4, 0.8)),
    Chooser("quick-narrow", 5, (0.4, 0.8)),
    Chooser("quick", 5, (0.4, 0.8)),
    Chooser("quick", 3, (0.4, 0.8)),
    Chooser("conv4", 10),
)


def run(request: Request) -> Findings:
    recipe = replace(preset("quick"), precision="fastest")
    if request.small:
        recipe = replace(recipe, batch_size=64, epochs=2)
    setup, _ = asked(f"cifar10:{cifar10_folder(request)}", model="quick", recipe=recipe)
    if request.small:
        setup = replace(setup, images=first_images(setup.images, 300))
    folder = request.out if request.small else request.out.parent
    choosers = (Chooser("conv4", 1),) if request.small else CHOOSERS
    fractions = sorted({fraction for chooser in choosers for fraction in chooser.fractions})
    both = [*_jobs(fractions, STRATIFIED), *_jobs(fractions, LEANSET)]
    usual = Study(setup, folder / "cifar10" / "table")
    rows = _rows(usual, both)
    for chooser in choosers:
        cheaper = replace(setup, scorer=chooser.model, scorer_recipe=chooser.recipe)
        study = Study(cheaper, request.out / "chooser" / chooser.folder)
        rows += [
            row | _in_common(study, usual, row["fraction"]) for row in _rows(study, _jobs(chooser.fractions, LEANSET))
        ]
    return Findings(rows, list(SEEDS), [])


def _jobs(fractions: Sequence[float], method: str) -> list[Job]:
    return [Job(seed, fraction, "quick", EQUAL_EPOCHS, method) for seed in SEEDS for fraction in fractions]


def _rows(study: Study, jobs: list[Job]) -> list[Row]:
    study.run(jobs)
    setup, none = study.setup, {"chooser": None, "epochs_of_chooser": None, "cost_of_chooser": 0.0}
    chooser = {
        "chooser": setup.scorer,
        "epochs_of_chooser": setup.scorer_recipe.epochs,
        "cost_of_chooser": setup.choosing_cost("quick"),
    }
    return [
        {"method": outcome["method"]}
        | (none if outcome["method"] == STRATIFIED else chooser)
        | {name: outcome[name] for name in ("fraction", "seed", "accuracy", "loss", "precision")}
        for outcome in study.outcomes(jobs)
    ]


def _in_common(study: Study, usual: Study, removed: float) -> Row:
    """Return which share of what stays is the same as by the usual chooser, on average over draws of both."""
    labels, record = study.setup.images.labels, _record(study)
    dynamics = study.statistics().dynamics
    assert dynamics is not None  # a network is never trained without a record
    wrong = 1 - float(np.mean([run.correct for run in dynamics]))
    as_long = replace(record, wrong=wrong, epochs=usual.setup.scorer_recipe.epochs)
    other = likely_to_stay(_record(usual), labels, removed)
    return {
        name: float(np.minimum(likely_to_stay(known, labels, removed), other).sum() / other.sum())
        for name, known in (("in_common", record), ("in_common_if_as_long", as_long))
    }


def _record(study: Study) -> LearningRecord:
    return LearningRecord.of(Evidence(groups=study.setup.images.labels, dynamics=study.statistics().dynamics))
