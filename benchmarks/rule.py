"""Which examples a network should keep: the evidence for the default of `leanset.Coverage`.

10,000 of the 50,000 training images of CIFAR-10, drawn once, are set aside and judge; the test batch plays no part. `quick` is
trained on the other 40,000 images with its preset in bfloat16, and each rule chooses from what it recorded: leanset with other
centres, spreads and powers of the swing, and methods of the literature. Then `quick` is trained on what is kept, for as many
epochs, once for each seed.

Finished trainings stay in `rule/` beside the record, so that an interrupted benchmark goes on.
"""

from dataclasses import replace

from benchmarks._data import cifar10, held_out_split
from benchmarks._record import Findings, Request, Row
from leanset._progress import Silent
from leanset.evaluate import EQUAL_EPOCHS, Job, Setup, Study
from leanset.judge import FULL, LEANSET, STRATIFIED
from leanset.select import Coverage
from leanset.training import preset

SEEDS = (0,)
PEERS = (STRATIFIED, LEANSET, "dual", "ccs")
# By share removed: centre, spread and power of the swing. A centre far above 1 prefers the hard without end.
TRIED = {
    0.4: [(0.5, 10.0, 0.0), (9.0, 1.6, 0.0), (0.85, 0.35, 0.0), (0.85, 0.35, 2.0), (0.85, 0.35, 6.0)],
    0.5: [(0.85, 0.35, 1.0), (0.85, 0.35, 4.0), (0.7, 0.3, 4.0)],
    0.8: [(0.6, 0.25, 0.0), (0.6, 0.25, 3.0), (0.45, 0.25, 8.0), (0.6, 0.25, 8.0), (0.6, 0.25, 16.0)],
    0.9: [(0.35, 0.2, 0.0), (0.35, 0.2, 3.0), (0.2, 0.2, 8.0), (0.35, 0.2, 8.0), (0.35, 0.2, 16.0)],
}


def run(request: Request) -> Findings:
    coverages = {
        _name(*tried): Coverage(centre=tried[0], spread=tried[1], swing=tried[2])
        for fraction in TRIED
        for tried in TRIED[fraction]
    }
    recipe = replace(preset("quick"), precision="fastest")
    if request.small:
        recipe = replace(recipe, epochs=1, batch_size=64)
    setup = Setup(
        images=held_out_split(cifar10(request)),
        scorer="quick",
        scorer_recipe=recipe,
        recipe=recipe,
        coverages=coverages,
    )
    study = Study(setup, request.out / "rule")
    jobs = [Job(seed, 0.0, "quick", EQUAL_EPOCHS, FULL) for seed in SEEDS]
    for fraction, tried in TRIED.items():
        names = [*PEERS, *(_name(*values) for values in tried)][: 2 if request.small else None]
        jobs += [Job(seed, fraction, "quick", EQUAL_EPOCHS, name) for seed in SEEDS for name in names]
    study.run(jobs, workers=1, reporter=Silent())
    return Findings([_row(outcome) for outcome in study.outcomes(jobs)], list(SEEDS), [])


def _name(centre: float, spread: float, swing: float) -> str:
    return f"centre {centre:g}, spread {spread:g}, swing {swing:g}"


def _row(outcome: Row) -> Row:
    return {name: outcome[name] for name in ("method", "fraction", "seed", "kept", "accuracy", "loss", "seconds")}
