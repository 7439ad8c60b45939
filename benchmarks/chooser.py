"""What is lost if a cheaper training chooses: fewer epochs of the network that methods look at.

All of CIFAR-10. `quick` is trained for a few epochs instead of ten, each with the whole course of its learning rate; leanset
chooses by what that training recorded, and `quick` is trained on what is kept for its ten epochs, as in the study in
results/cifar10 (`leanset compare`, see docs/comparison.md), whose rows of the same seeds are beside them: chosen by ten
epochs, and drawn at random. Cost is the arithmetic of the training that chooses, as a share of one training on all data.
Tested on the test batch.

Finished trainings stay in `chooser/` beside the record, so that an interrupted benchmark goes on.
"""

from dataclasses import replace

from benchmarks._data import cifar10_folder, first_images
from benchmarks._record import Findings, Request, Row
from leanset.capture import Network
from leanset.evaluate import EQUAL_EPOCHS, Job, Setup, Study, asked
from leanset.judge import LEANSET, STRATIFIED
from leanset.training import preset, training_pflop

FRACTION, SEEDS, EPOCHS = 0.8, (1,), (3,)


def run(request: Request) -> Findings:
    recipe = replace(preset("quick"), precision="fastest")
    if request.small:
        recipe = replace(recipe, batch_size=64, epochs=2)
    setup, _ = asked(f"cifar10:{cifar10_folder(request)}", model="quick", recipe=recipe)
    if request.small:
        setup = replace(setup, images=first_images(setup.images, 300))
    folder = request.out if request.small else request.out.parent
    chosen = [Job(seed, FRACTION, "quick", EQUAL_EPOCHS, LEANSET) for seed in SEEDS]
    drawn = [replace(job, method=STRATIFIED) for job in chosen]
    rows = _rows(Study(setup, folder / "cifar10" / "table"), [*drawn, *chosen])
    for epochs in (1,) if request.small else EPOCHS:
        shorter = replace(setup, scorer_recipe=replace(recipe, epochs=epochs))
        rows += _rows(Study(shorter, request.out / "chooser" / f"epochs-{epochs}"), chosen)
    return Findings(rows, list(SEEDS), [])


def _rows(study: Study, jobs: list[Job]) -> list[Row]:
    study.run(jobs)
    cost = _pflop(study.setup, study.setup.scorer_recipe.epochs) / _pflop(study.setup, study.setup.recipe.epochs)
    return [
        {
            "method": outcome["method"],
            "epochs_of_chooser": None if outcome["method"] == STRATIFIED else study.setup.scorer_recipe.epochs,
            "cost_of_chooser": 0.0 if outcome["method"] == STRATIFIED else cost,
        }
        | {name: outcome[name] for name in ("fraction", "seed", "accuracy", "loss", "precision")}
        for outcome in study.outcomes(jobs)
    ]


def _pflop(setup: Setup, epochs: int) -> float:
    settings, images = setup.scorer_settings(), setup.images
    recipe = replace(settings.recipe, epochs=epochs)
    return training_pflop(Network(images, settings).model, (images.channels, *images.size), recipe, len(images))
