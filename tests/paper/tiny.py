"""The paper's experiments in miniature."""

import numpy as np

from leanset._progress import Silent
from leanset.judge import LEANSET, STRATIFIED, UNIFORM
from leanset.paper import Experiment
from leanset.paper.nas import SearchSettings
from leanset.paper.noise import DOUBTING, NoiseSettings
from leanset.paper.pruning import PruningSettings
from leanset.paper.scale import Scale
from leanset.paper.speed import SpeedSettings
from leanset.paper.theory import TheorySettings
from leanset.paper.transfer import TransferSettings
from leanset.training.recipe import Recipe
from tests.training.networks import striped_images

SOURCE = striped_images(n=75, size=12)
NOISY = np.where(np.random.default_rng(1).random(75) < 0.3, (SOURCE.labels + 1) % 3, SOURCE.labels)
TINY = Scale(
    name="cpu",
    per_class=20,
    scorer="lenet",
    recipe=Recipe(epochs=1, lr=0.02, batch_size=16, crop=0),
    seeds=2,
)
TINY_SETTINGS = {
    "pruning": PruningSettings(
        methods=(STRATIFIED, "el2n", LEANSET),
        fractions=(0.4,),
        step_methods=(STRATIFIED,),
        step_fractions=(0.4,),
    ),
    "theory": TheorySettings(fractions=(0.4,)),
    "transfer": TransferSettings(
        scorer="lenet",
        models=("convnet-1-32-relu-none-max",),
        methods=(STRATIFIED, LEANSET),
        fractions=(0.4,),
    ),
    "speed": SpeedSettings(epochs=(2,), fractions=(0.4,)),
    "nas": SearchSettings(
        designs=3,
        multiply_adds=300_000,
        map_entries=9_000,
        per_class=5,
        methods=(UNIFORM, LEANSET),
        recipe=TINY.recipe,
        epochs=2,
        whole_epochs=1,
        seeds=1,
    ),
    "noise": NoiseSettings(methods=(STRATIFIED, LEANSET, DOUBTING), fractions=(0.4,)),
}


def tiny_experiment(folder):
    """Seventy-five striped images, some of them with wrong labels."""
    return Experiment(
        source=SOURCE,
        scale=TINY,
        out=folder / "out",
        work=folder / "work",
        command="leanset paper ...",
        reporter=Silent(),
        workers=1,
        noisy_labels={"worse": NOISY},
    )
