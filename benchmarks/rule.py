"""Which examples a network should keep: the evidence for the default of `leanset.Coverage`.

10,000 of the 50,000 training images of CIFAR-10, drawn once, are set aside and judge; the test batch plays no part. `quick` is
trained on the other 40,000 images, or on 10,000 of them, with its preset in the fastest precision, and each rule chooses from
what it recorded: leanset with other centres, spreads and powers of the swing, and methods of the literature. Then `quick` is
trained on what is kept, for its ten epochs, once for each seed. Some rules choose from a record of fewer epochs
(`epochs_of_chooser`).

Finished trainings stay in `rule/` beside the record, so that an interrupted benchmark goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks._data import cifar10, held_out_split
from benchmarks._record import Findings, Request, Row
from leanset._progress import Silent
from leanset.evaluate import EQUAL_EPOCHS, Job, Setup, Study
from leanset.judge import FULL, LEANSET, STRATIFIED
from leanset.select import Coverage
from leanset.training import preset

PEERS = (STRATIFIED, LEANSET, "dual", "ccs")


@dataclass(frozen=True)
class Part:
    """How many images there are, and what is tried on them: centre, spread and power of the swing, by share removed.

    A centre far above 1 prefers the hard without end; None is what leanset takes. `choose_epochs` are recorded, or as many as
    are trained.
    """

    images: int
    seeds: tuple[int, ...]
    tried: Mapping[float, Sequence[tuple[float | None, float | None, float]]]
    choose_epochs: int | None = None

    @property
    def folder(self) -> str:
        """Where its study lies."""
        return f"{self.images}" if self.choose_epochs is None else f"{self.images}-{self.choose_epochs}-epochs"

    @property
    def coverages(self) -> dict[str, Coverage]:
        """The rules that are tried, by name."""
        return {
            _name(*each): Coverage(centre=each[0], spread=each[1], swing=each[2])
            for tried in self.tried.values()
            for each in tried
        }

    @property
    def jobs(self) -> list[Job]:
        """What is trained."""
        # Without a record of its own length, the peers and all data are as in the part that has one.
        peers = PEERS if self.choose_epochs is None else (LEANSET,)
        names = {fraction: (*peers, *(_name(*each) for each in tried)) for fraction, tried in self.tried.items()}
        whole = [Job(seed, 0.0, "quick", EQUAL_EPOCHS, FULL) for seed in self.seeds if self.choose_epochs is None]
        return whole + [
            Job(seed, fraction, "quick", EQUAL_EPOCHS, name)
            for seed in self.seeds
            for fraction, methods in names.items()
            for name in methods
        ]


PARTS = (
    Part(
        40_000,
        (0,),
        {
            0.4: [(0.5, 10.0, 0.0), (9.0, 1.6, 0.0), (0.85, 0.35, 0.0), (0.85, 0.35, 2.0), (0.85, 0.35, 6.0)],
            0.5: [(0.85, 0.35, 1.0), (0.85, 0.35, 4.0), (0.7, 0.3, 4.0)],
            0.8: [(0.6, 0.25, 0.0), (0.6, 0.25, 3.0), (0.45, 0.25, 8.0), (0.6, 0.25, 8.0), (0.6, 0.25, 16.0)],
            0.9: [(0.35, 0.2, 0.0), (0.35, 0.2, 3.0), (0.2, 0.2, 8.0), (0.35, 0.2, 8.0), (0.35, 0.2, 16.0)],
        },
    ),
    Part(
        10_000,
        (0, 1),
        {0.4: [(0.85, 0.35, 1.0), (0.6, 0.25, 2.0)], 0.8: [(0.6, 0.25, 8.0), (0.35, 0.2, 8.0)]},
    ),
    Part(40_000, (0, 1, 2), {0.8: [(None, None, 8.0)]}, choose_epochs=5),
    Part(40_000, (0, 1, 2), {0.8: [(None, None, 8.0)]}, choose_epochs=3),
)
_SMALL = Part(200, (0,), {0.5: [(0.5, 10.0, 0.0)]})


def run(request: Request) -> Findings:
    judged = held_out_split(cifar10(request))
    recipe = replace(preset("quick"), precision="fastest")
    if request.small:
        recipe = replace(recipe, epochs=1, batch_size=64)
    rows = []
    for part in (_SMALL,) if request.small else PARTS:
        images = judged if part.images >= len(judged) else judged.take(np.arange(part.images))
        chooser = recipe if part.choose_epochs is None else replace(recipe, epochs=part.choose_epochs)
        setup = Setup(images=images, scorer="quick", scorer_recipe=chooser, recipe=recipe, coverages=part.coverages)
        study = Study(setup, request.out / "rule" / part.folder)
        study.run(part.jobs, workers=1, reporter=Silent())
        known = {"images": part.images, "epochs_of_chooser": chooser.epochs}
        rows += [known | _row(outcome) for outcome in study.outcomes(part.jobs)]
    return Findings(rows, sorted({seed for part in PARTS for seed in part.seeds}), [])


def _name(centre: float | None, spread: float | None, swing: float) -> str:
    given = {"centre": centre, "spread": spread, "swing": swing}
    return ", ".join(f"{name} {value:g}" for name, value in given.items() if value is not None)


def _row(outcome: Row) -> Row:
    return {name: outcome[name] for name in ("method", "fraction", "seed", "kept", "accuracy", "loss", "seconds")}
