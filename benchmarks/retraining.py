"""Whether a training on a chosen set should be another one than on all data: more decay, smaller batches, weights of losses.

10,000 of the 50,000 training images of CIFAR-10, drawn once, are set aside and judge; the test batch plays no part. `quick` is
trained on the other 40,000 images with its preset, leanset and class-stratified random choose from them, and `quick` is trained
on what is kept for as many epochs: as it is; with the weight decay divided by the share kept, n/(n − m), which leaves the
penalty beside the *sum* of the losses as it was; with batches smaller by the share kept, so that the steps are as many as on
all data, and the arithmetic is what it is without; with both; and, on leanset's sets, with the loss of each example weighed by
1/π, where π is the probability with which the rule keeps it, so that the weighted loss is on average that of all data. Weights
are at most five times the least, so it is not quite that where examples are kept with very different probabilities. All 40,000
images are trained on with smaller batches, too, which tells whether these help pruning or any training.

Finished trainings stay in `retraining/` and as lines of retraining.jsonl beside the record, so that an interrupted benchmark
goes on.
"""

import time
from dataclasses import replace

import numpy as np

from benchmarks._data import cifar10, held_out_split
from benchmarks._record import Findings, Request, Row
from benchmarks._shares import learning_record, likely_to_stay
from benchmarks._trainings import known_or
from leanset._threads import available_threads, thread_count
from leanset.evaluate import EQUAL_EPOCHS, Job, Setup, Study
from leanset.head import TotalPenalty
from leanset.judge import FULL, LEANSET, STRATIFIED
from leanset.training import ImageBatches, fabric_for, number_type, preset, quality, torch_threads, train

SEEDS, MOST = (0,), 5.0
AS_IS, DECAY, BATCH, WEIGHTS = "as it is", "weight decay n/(n − m)", "batches (n − m)/n", "loss weights 1/π"
BOTH = f"{DECAY}, {BATCH}"
SMALLER = 0.6  # of the batch of a training on all data
TRIED = {  # by share removed and method
    (0.4, LEANSET): (AS_IS, BATCH, DECAY, WEIGHTS),
    (0.0, FULL): (AS_IS, BATCH),
    (0.4, STRATIFIED): (AS_IS, BATCH),
    (0.8, LEANSET): (AS_IS, BATCH, DECAY, BOTH, WEIGHTS),
    (0.8, STRATIFIED): (AS_IS, BATCH, DECAY, BOTH),
}


def run(request: Request) -> Findings:
    recipe = replace(preset("quick"), precision="fastest")
    if request.small:
        recipe = replace(recipe, epochs=1, batch_size=64)
    images = held_out_split(cifar10(request))
    study = Study(Setup(images=images, scorer="quick", scorer_recipe=recipe, recipe=recipe), request.out / "retraining")
    study.table.open(study.setup.identity())
    study.statistics()
    table, rows = request.out / "retraining.jsonl", []
    with thread_count(max(1, available_threads() // 2)), torch_threads():
        for seed in SEEDS:
            for (fraction, method), changes in TRIED.items():
                job = Job(seed, fraction, "quick", EQUAL_EPOCHS, method)
                for change in changes:
                    which = {"method": method, "fraction": fraction, "seed": seed, "change": change}
                    rows.append(known_or(table, which, lambda j=job, c=change: _trained(study, j, c)))
    return Findings(rows, list(SEEDS), [])


def _trained(study: Study, job: Job, change: str) -> Row:
    images, kept = study.setup.images, study.kept(job)
    settings = study.setup.network(job, len(kept))
    recipe, weights = settings.recipe, None
    share = SMALLER if job.on_all else len(kept) / len(images)
    if change in (DECAY, BOTH):
        recipe = replace(recipe, weight_decay=TotalPenalty().l2_on(recipe.weight_decay, len(images), len(kept)))
    if change in (BATCH, BOTH):
        recipe = replace(recipe, batch_size=round(recipe.batch_size * share))
    if change == WEIGHTS:
        each = 1 / likely_to_stay(learning_record(study), images.labels, job.fraction)[kept]
        weights = np.minimum(each, MOST * each.min())
    data, fabric, began = ImageBatches(images), fabric_for("cpu"), time.perf_counter()
    training = train(
        settings.untrained(images), data, recipe, fabric, seed=job.seed, places=kept, weights=weights, record=False
    )
    seconds = time.perf_counter() - began
    assert images.held_out is not None
    found = quality(training.model, ImageBatches(images.held_out, data.scale), fabric.device, copies=recipe.copies)
    return {
        "accuracy": found.accuracy,
        "loss": found.loss,
        "scaled_loss": found.scaled_loss,
        "seconds": seconds,
        "precision": number_type(recipe.precision, fabric),
    }
