from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import nn

from leanset._errors import InputError, warn
from leanset._rng import stream
from leanset.data import Images
from leanset.settings import NetworkOptions
from leanset.training import (
    MODELS,
    PixelScale,
    Recipe,
    build_model,
    has_stems,
    is_normalised,
    preset,
    preset_of,
    read_checkpoint,
)

_OF_RECIPES = ("epochs", "batch_size", "lr", "crop", "weight_decay", "precision")
_NOT_FOR_CHECKPOINTS = ("preset", "flip", "devices", "epochs", "batch_size", "lr", "crop", "precision")


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """Which network to use, and how it gets its weights.

    Attributes
    ----------
    model, stem : names of the network and of its first layer
    recipe : how it is trained; its weight decay is the l2 of the head even with a checkpoint
    seed : of the weights, the order and the augmentation
    runs : number of trainings, with different seeds, to average scores over
    checkpoint : weights to load instead of training
    scale : how pixels are scaled; measured on the data if None
    device, devices : kind and number of devices
    """

    model: str
    recipe: Recipe
    seed: int = 0
    stem: str = "auto"
    runs: int = 1
    checkpoint: Path | None = None
    scale: PixelScale | None = None
    device: str = "auto"
    devices: int = 1

    def __post_init__(self) -> None:
        if self.runs < 1 or self.devices < 1:
            raise InputError(f"`runs={self.runs}` and `devices={self.devices}` must be at least 1.")
        if self.checkpoint is not None and self.runs > 1:
            raise InputError(
                f"`runs={self.runs}` needs several trainings, but `checkpoint` is one network; give only one of them."
            )

    def untrained(self, images: Images, nth: int = 0) -> nn.Module:
        """Build the network of the nth run, with random weights."""
        return _untrained(self.model, images, self.stem, self.seed + nth)

    def as_the_checkpoint_says(
        self, classes: tuple[str, ...], weight_decay: float | None
    ) -> tuple["NetworkSettings", bool]:
        """Use the pixel scale and the weight decay stored in a checkpoint by leanset, unless they were given.

        Returns
        -------
        The settings, and whether the weight decay had to be assumed.
        """
        if self.checkpoint is None:
            return self, False
        about = read_checkpoint(self.checkpoint)
        known = about.get("classes")
        if isinstance(known, list) and tuple(known) != classes:
            raise InputError(
                f"{self.checkpoint}: was trained on the classes {', '.join(map(str, known[:5]))}...; the data have "
                f"{', '.join(classes[:5])}..., in this order."
            )
        scale, decay = self.scale, about.get("weight_decay") if weight_decay is None else weight_decay
        if scale is None and "mean" in about and "deviation" in about:
            scale = PixelScale(tuple(about["mean"]), tuple(about["deviation"]))
        return replace(self, scale=scale, recipe=self.recipe.with_changes(weight_decay=decay)), decay is None


def network_settings(
    images: Images, options: NetworkOptions, *, seed: int, decay_matters: bool = True
) -> tuple[NetworkSettings, nn.Module]:
    """Return the settings for some images that follow from the options, and the network, built once.

    With `decay_matters`, warn if the weight decay of a checkpoint has to be assumed.
    """
    name = options.model
    if name is None:
        raise InputError(f"images need a network: give `model`, one of {', '.join(sorted(MODELS))}.")
    if (options.mean is None) != (options.std is None):
        raise InputError("give both `mean` and `std`, or neither.")
    if options.checkpoint is not None:
        options.refuse(_NOT_FOR_CHECKPOINTS, "a checkpoint, which is not trained")
    if not has_stems(name):
        options.refuse(("stem",), f"{name}, which has one stem for all sizes")
    model = _untrained(name, images, options.stem, seed)
    scale = None if options.mean is None or options.std is None else PixelScale(tuple(options.mean), tuple(options.std))
    settings = NetworkSettings(
        model=name,
        recipe=_recipe(name, images, options, is_normalised(model)),
        seed=seed,
        stem=options.stem,
        runs=options.runs,
        checkpoint=None if options.checkpoint is None else Path(options.checkpoint),
        scale=scale,
        device=options.device,
        devices=options.devices,
    )
    settings, assumed = settings.as_the_checkpoint_says(images.classes, options.weight_decay)
    if assumed and decay_matters:
        warn(
            f"the checkpoint does not contain its weight decay; {settings.recipe.weight_decay:g} is assumed. Give "
            "`weight_decay` if it is different."
        )
    return settings, model


def _recipe(model: str, images: Images, options: NetworkOptions, normalised: bool) -> Recipe:
    # Mirroring changes a digit, and grey images are often digits.
    flip = images.channels > 1 if options.flip is None else options.flip
    named = preset(options.preset or preset_of(model), normalised=normalised)
    changes = {key: getattr(options, key) for key in _OF_RECIPES}
    return named.with_changes(flip=flip, **changes)


def _untrained(name: str, images: Images, stem: str, seed: int) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(int(stream(seed, "weights").integers(2**31)))
        return build_model(name, len(images.classes), channels=images.channels, image_size=max(images.size), stem=stem)
