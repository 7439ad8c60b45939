"""How large the experiments are: as published, for machines with a GPU, and small enough for two processor cores."""

from dataclasses import dataclass

from leanset._errors import InputError
from leanset.evaluate.bench import BALANCED, LEANSET, PAPER, STRATIFIED, UNIFORM
from leanset.training.recipe import PRESETS, Recipe

_PUBLISHED = (UNIFORM, "herding", "forgetting", "grand", "el2n", "influence", PAPER)  # figure 1 of the paper
_MODERN = ("ccs", "dual")


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The sizes of all experiments.

    Attributes
    ----------
    per_class : training examples of each class (fewer if a class has fewer), drawn once with a fixed seed; all if None
    scorer, recipe : the network that methods look at, and how all networks are trained
    methods, fractions, seeds : of the pruning curves
    step_methods, step_fractions : which of them are also trained for equal steps
    theory_fractions : removed in the check of the theory
    transfer_scorer, transfer_models, transfer_methods, transfer_fractions : who chooses, who is trained
    speed_epochs, speed_fractions : lengths of training, beside the recipe's, and fractions removed
    search_designs, search_multiply_adds, search_map_entries : how many ConvNets, and the largest that is trained, by the
        multiplications and the activations of one image; all if None
    search_per_class, search_methods, search_epochs, search_whole_epochs, search_seeds : the proxy set, and the trainings
    noise_methods, noise_fractions : with wrong labels
    """

    per_class: int | None
    scorer: str
    recipe: Recipe
    methods: tuple[str, ...] = (STRATIFIED, *_PUBLISHED, *_MODERN, BALANCED, LEANSET)
    fractions: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 0.9)
    seeds: int
    step_methods: tuple[str, ...]
    step_fractions: tuple[float, ...]
    theory_fractions: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)
    transfer_scorer: str
    transfer_models: tuple[str, ...]
    transfer_methods: tuple[str, ...] = (STRATIFIED, "ccs", "el2n", LEANSET)
    transfer_fractions: tuple[float, ...]
    speed_epochs: tuple[int, ...]
    speed_fractions: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)
    search_designs: int | None
    search_multiply_adds: int | None
    search_map_entries: int | None
    search_per_class: int = 100
    search_methods: tuple[str, ...] = (UNIFORM, "herding", "forgetting", LEANSET)
    search_epochs: int
    search_whole_epochs: int
    search_seeds: int = 1
    noise_methods: tuple[str, ...] = (STRATIFIED, "herding", "forgetting", "el2n", "aum", "ccs", LEANSET)
    noise_fractions: tuple[float, ...]


_CPU = Scale(
    per_class=1000,
    scorer="conv4",
    # 70 % after these ten epochs on 10,000 images of CIFAR-10, a minute on one core.
    recipe=PRESETS["fast"].with_changes(epochs=10, lr=0.2, weight_decay=5e-4, batch_size=64),
    seeds=3,
    step_methods=(STRATIFIED, "ccs", "el2n", LEANSET),
    step_fractions=(0.8,),
    transfer_scorer="conv4",
    transfer_models=("lenet", "resnet8"),
    transfer_methods=(STRATIFIED, "ccs", LEANSET),
    transfer_fractions=(0.4, 0.8),
    speed_epochs=(3, 5),
    search_designs=12,
    search_multiply_adds=15_000_000,
    search_map_entries=90_000,
    search_epochs=8,
    search_whole_epochs=2,
    noise_methods=(STRATIFIED, "el2n", "aum", "ccs", LEANSET),
    noise_fractions=(0.4,),
)
_AS_PUBLISHED = Scale(
    per_class=None,
    scorer="resnet50",
    recipe=PRESETS["paper"],
    seeds=5,
    step_methods=(STRATIFIED, *_PUBLISHED, *_MODERN, LEANSET),
    step_fractions=(0.2, 0.4, 0.6, 0.8, 0.9),
    transfer_scorer="se-resnet18",
    transfer_models=("resnet18", "resnet50"),
    transfer_fractions=(0.2, 0.4, 0.6, 0.8),
    speed_epochs=(25, 50, 100),
    search_designs=None,
    search_multiply_adds=None,
    search_map_entries=None,
    search_epochs=100,
    search_whole_epochs=100,
    noise_fractions=(0.2, 0.4, 0.6, 0.8),
)
SCALES = {"cpu": _CPU, "paper": _AS_PUBLISHED}


def scale_named(name: str) -> Scale:
    """Return a scale by name.

    Examples
    --------
    >>> scale_named("cpu").scorer, scale_named("paper").recipe.epochs
    ('conv4', 200)
    """
    if name not in SCALES:
        raise InputError(f"scale {name!r} is unknown; choose from {', '.join(SCALES)}.")
    return SCALES[name]
