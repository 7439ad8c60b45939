"""The size of the experiments: as published, for a GPU; all images and a fast network; or an hour each of two cores."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leanset._errors import InputError
from leanset.training import PRESETS, Recipe

CPU, QUICK, PUBLISHED = "cpu", "quick", "published"


@dataclass(frozen=True, kw_only=True)
class Scale:
    """What all experiments share. Each experiment has settings of its own beside it.

    Attributes
    ----------
    name : "cpu", "quick" or "published"
    per_class : training examples per class (fewer if a class has fewer), drawn with a fixed seed; all if None
    scorer : network that the methods look at
    recipe : how networks are trained
    other_recipes : by name, how networks are trained that `recipe` does not suit
    seeds : trainings of each kind
    """

    name: str
    per_class: int | None
    scorer: str
    recipe: Recipe
    other_recipes: Mapping[str, Recipe] = field(default_factory=dict)
    seeds: int


SCALES = {
    CPU: Scale(
        name=CPU,
        per_class=1000,
        scorer="conv4",
        # 70 % after these ten epochs on 10,000 images of CIFAR-10, a minute on one core.
        recipe=PRESETS["fast"].with_changes(epochs=10, lr=0.2, weight_decay=5e-4, batch_size=64),
        seeds=3,
    ),
    QUICK: Scale(
        name=QUICK,
        per_class=None,
        scorer="quick",
        recipe=PRESETS["quick"].with_changes(precision="fastest"),
        other_recipes=dict.fromkeys(("resnet8", "resnet20"), PRESETS["fast"].with_changes(precision="fastest")),
        seeds=3,
    ),
    PUBLISHED: Scale(
        name=PUBLISHED,
        per_class=None,
        scorer="resnet50",
        recipe=PRESETS["published"],
        seeds=5,
    ),
}


def scale_named(name: str) -> Scale:
    """Return a scale by name.

    Examples
    --------
    >>> scale_named("cpu").scorer, scale_named("published").recipe.epochs
    ('conv4', 200)
    """
    if name not in SCALES:
        raise InputError(f"`scale={name!r}` is unknown; choose from {', '.join(SCALES)}.")
    return SCALES[name]
