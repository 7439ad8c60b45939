"""Whether a training on a chosen set should be another one than on all data: more weight decay, or weights of the losses.

All of CIFAR-10, `quick` for its ten epochs, 80 % removed by leanset and by class-stratified random: the sets, seeds and
trainings as they are come from the study in results/cifar10 (`leanset compare`, see docs/comparison.md). Each set is trained on
twice more: with the weight decay divided by the share kept, n/(n − m), which leaves the penalty beside the *sum* of the losses
as it was; and, for leanset, with the loss of each example weighed by 1/π, where π is the probability with which the rule
keeps it. Then the weighted loss is, on average over the draws, that of all data; weights are at most five times the least,
so not quite. Tested on the test batch. Seconds are of one training on half the cores.

Finished trainings are lines of retraining.jsonl beside the record.
"""

from dataclasses import replace

import numpy as np

from benchmarks._data import cifar10_folder, first_images
from benchmarks._record import Findings, Request, Row
from benchmarks._trainings import known_or
from leanset._arrays import Rows, Vector
from leanset._threads import thread_count
from leanset.evaluate import EQUAL_EPOCHS, Job, Study, asked
from leanset.judge import LEANSET, STRATIFIED
from leanset.scores import AUM, DynUnc, Evidence, kept_shares
from leanset.select import Coverage
from leanset.training import ImageBatches, fabric_for, number_type, preset, quality, torch_threads, train

FRACTION, SEEDS, MOST = 0.8, (1, 2), 5.0
AS_IS, DECAY, WEIGHTS = "as it is", "weight decay n/(n − m)", "loss weights 1/π"


def run(request: Request) -> Findings:
    small = {"epochs": 1, "batch_size": 64} if request.small else {}
    recipe = replace(preset("quick"), precision="fastest", **small)
    setup, _ = asked(f"cifar10:{cifar10_folder(request)}", model="quick", methods=(LEANSET,), recipe=recipe)
    if request.small:
        setup = replace(setup, images=first_images(setup.images, 300))
    study = Study(setup, (request.out if request.small else request.out.parent / "cifar10") / "table")
    rows = []
    for seed in SEEDS[: 1 if request.small else None]:
        jobs = [Job(seed, FRACTION, "quick", EQUAL_EPOCHS, method) for method in (STRATIFIED, LEANSET)]
        study.run(jobs, workers=1)
        rows += [_as_is(outcome) for outcome in study.outcomes(jobs)]
        for job in jobs:
            for change in (DECAY, WEIGHTS) if job.method == LEANSET else (DECAY,):
                which = {"method": job.method, "fraction": FRACTION, "seed": seed, "change": change}
                rows.append(
                    known_or(request.out / "retraining.jsonl", which, lambda j=job, c=change: _trained(study, j, c))
                )
    return Findings(rows, list(SEEDS), [])


def _as_is(outcome: Row) -> Row:
    named = {name: outcome[name] for name in ("method", "fraction", "seed", "accuracy", "loss", "precision")}
    return named | {"change": AS_IS}


def _trained(study: Study, job: Job, change: str) -> Row:
    images, kept = study.setup.images, study.kept(job)
    settings = study.setup.network(job, len(kept))
    recipe, weights = settings.recipe, None
    if change == DECAY:
        recipe = replace(recipe, weight_decay=recipe.weight_decay * len(images) / len(kept))
    else:
        share = _shares(study)[kept]
        weights = np.minimum(1 / share, MOST * (1 / share).min())
    data, fabric = ImageBatches(images), fabric_for("cpu")
    with thread_count(1), torch_threads():
        training = train(
            settings.untrained(images), data, recipe, fabric, seed=job.seed, places=kept, weights=weights, record=False
        )
        assert images.held_out is not None
        found = quality(training.model, ImageBatches(images.held_out, data.scale), fabric.device, copies=recipe.copies)
    return {"accuracy": found.accuracy, "loss": found.loss, "precision": number_type(recipe.precision, fabric)}


def _shares(study: Study) -> Vector:
    """Return how likely each example is to stay by leanset's rule."""
    labels = study.setup.images.labels
    evidence = Evidence(groups=labels, dynamics=study.statistics().dynamics)
    margin, swing = AUM().scores(evidence), DynUnc().scores(evidence)
    share = np.zeros(len(labels))
    for c in range(int(labels.max()) + 1):
        members: Rows = np.flatnonzero(labels == c)
        easiest_first = members[np.argsort(-margin[members], kind="stable")]
        kept = len(members) - round(FRACTION * len(members))
        share[easiest_first] = kept_shares(Coverage().log_weights(swing[easiest_first], FRACTION), kept)
    return share
