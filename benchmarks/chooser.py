"""What is lost if a cheaper training chooses: fewer epochs, or a smaller network, than the one that is trained on the set.

All of CIFAR-10. The network that methods look at is `quick` for a few epochs instead of ten, each with the whole course of
its learning rate, or a smaller network. leanset chooses by what that training recorded, and `quick` is trained on what is
kept for its ten epochs, as in the study in results/cifar10 (`leanset compare`, see docs/comparison.md), whose rows of the
same seeds are beside them: chosen by `quick` after ten epochs, and drawn at random. What three epochs of `quick` choose is
trained on by `quick-wide`, too. Cost is the arithmetic of the training that chooses, as a share of one training on all data.
Tested on the test batch. "In common" is how much of what stays is the same, on average over draws, as by ten epochs of
`quick`: with leanset's rule, and if it took a short training for a long one.

Finished trainings, sets and agreements stay in `chooser/` beside the record, so that an interrupted benchmark goes on. After a
change of the rule delete that folder: what is finished is not done again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks._data import cifar10_folder, first_images
from benchmarks._record import Findings, Request, Row
from benchmarks._shares import learning_record, likely_to_stay
from benchmarks._trainings import known_or
from leanset.evaluate import EQUAL_EPOCHS, Job, Setup, Study, asked
from leanset.judge import LEANSET, STRATIFIED
from leanset.training import Recipe, preset, preset_of

SEEDS, WIDE = (1,), "quick-wide"


@dataclass(frozen=True)
class Chooser:
    """A network, how long it is trained, and the shares to remove by what it recorded.

    `wide` are those after which `quick-wide` is trained on the rest, too.
    """

    model: str
    epochs: int
    fractions: tuple[float, ...] = (0.8,)
    wide: tuple[float, ...] = ()

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
    Chooser("quick", 3, (0.4, 0.5, 0.8), wide=(0.4,)),
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
    setup = replace(setup, other_recipes={WIDE: replace(preset(WIDE), precision="fastest")})
    choosers = (Chooser("conv4", 1),) if request.small else CHOOSERS
    usual = Study(setup, folder / "cifar10" / "table")
    rows = _rows(usual, [job for method in (STRATIFIED, LEANSET) for job in _jobs(choosers, method)])
    for chooser in choosers:
        cheaper = replace(setup, scorer=chooser.model, scorer_recipe=chooser.recipe)
        study = Study(cheaper, request.out / "chooser" / chooser.folder)
        agreements = study.path / "in-common.jsonl"
        for row in _rows(study, _jobs([chooser], LEANSET)):
            removed = {"fraction": row["fraction"]}
            rows.append(row | known_or(agreements, removed, lambda s=study, r=removed: _in_common(s, usual, **r)))
    return Findings(rows, list(SEEDS), [])


def _jobs(choosers: Sequence[Chooser], method: str) -> list[Job]:
    """Return what is trained on the sets of some choosers, each once."""
    kinds = [("quick", fraction) for chooser in choosers for fraction in chooser.fractions]
    kinds += [(WIDE, fraction) for chooser in choosers for fraction in chooser.wide]
    return [
        Job(seed, fraction, model, EQUAL_EPOCHS, method) for seed in SEEDS for model, fraction in sorted(set(kinds))
    ]


def _rows(study: Study, jobs: list[Job]) -> list[Row]:
    study.run(jobs)
    return [
        {"method": outcome["method"]}
        | _chooser(study.setup, outcome["model"], outcome["method"])
        | {name: outcome[name] for name in ("model", "fraction", "seed", "accuracy", "loss", "precision")}
        for outcome in study.outcomes(jobs)
    ]


def _chooser(setup: Setup, model: str, method: str) -> Row:
    if method == STRATIFIED:
        return {"chooser": None, "epochs_of_chooser": None, "cost_of_chooser": 0.0}
    return {
        "chooser": setup.scorer,
        "epochs_of_chooser": setup.scorer_recipe.epochs,
        "cost_of_chooser": setup.choosing_cost(model),
    }


def _in_common(study: Study, usual: Study, fraction: float) -> Row:
    """Return which share of what stays is the same as by the usual chooser, on average over draws of both."""
    labels, record, usual_record = study.setup.images.labels, learning_record(study), learning_record(usual)
    dynamics = study.statistics().dynamics
    assert dynamics is not None  # a network is never trained without a record
    wrong = 1 - float(np.mean([run.correct for run in dynamics]))
    as_long = replace(record, wrong=wrong, later_epochs=usual_record.later_epochs)
    other = likely_to_stay(usual_record, labels, fraction)
    return {
        name: float(np.minimum(likely_to_stay(known, labels, fraction), other).sum() / other.sum())
        for name, known in (("in_common", record), ("in_common_if_as_long", as_long))
    }
