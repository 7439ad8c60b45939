import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from leanset._errors import InputError

_RATE_WITHOUT_NORMALISATION = 0.02  # LeNet on CIFAR-10 diverges at ten times this


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _demand(recipe: "Recipe", name: str, holds: bool, legal: str) -> None:
    if not holds:
        raise InputError(f"`Recipe({name}={getattr(recipe, name)!r})` must be {legal}.")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a network is trained: SGD with momentum, one learning-rate curve, random crops and flips.

    The penalty applies to every weight, including biases. So `weight_decay` is exactly the l2 of the head's problem.

    Parameters
    ----------
    epochs, batch_size : passes over the data, examples per step
    lr : highest learning rate
    warmup : share of the steps in which the rate rises from 0 to `lr`
    decay : how the rate falls to 0 afterwards, "cosine" or "linear"
    momentum, nesterov, weight_decay, label_smoothing : as in `torch.optim.SGD` and `torch.nn.CrossEntropyLoss`
    crop : pixels of padding for random crops; 0 for none
    flip : mirror each image with probability 1/2

    Examples
    --------
    >>> recipe = Recipe(epochs=10, lr=0.1, warmup=0.2, decay="linear")
    >>> [round(recipe.rate_at(step, 100), 3) for step in (0, 10, 20, 60, 100)]
    [0.0, 0.05, 0.1, 0.05, 0.0]
    """

    epochs: int
    lr: float
    batch_size: int = 128
    warmup: float = 0.0
    decay: str = "cosine"
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 5e-4
    label_smoothing: float = 0.0
    crop: int = 4
    flip: bool = True

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size"):
            _demand(self, name, isinstance(getattr(self, name), int) and getattr(self, name) >= 1, "a whole number ≥ 1")
        _demand(self, "lr", _is_number(self.lr) and self.lr > 0, "positive")
        _demand(self, "weight_decay", _is_number(self.weight_decay) and self.weight_decay > 0, "positive")
        for name in ("warmup", "momentum", "label_smoothing"):
            _demand(self, name, _is_number(getattr(self, name)) and 0 <= getattr(self, name) < 1, "in [0, 1)")
        _demand(self, "decay", self.decay in ("cosine", "linear"), "'cosine' or 'linear'")
        _demand(self, "crop", isinstance(self.crop, int) and self.crop >= 0, "a whole number ≥ 0")

    def rate_at(self, step: int, steps: int) -> float:
        """Return the learning rate at step `step` of `steps`."""
        rising = self.warmup * steps
        if step < rising:
            return self.lr * step / rising
        share = min(1.0, (step - rising) / max(steps - rising, 1))
        return self.lr * (1 - share if self.decay == "linear" else 0.5 * (1 + math.cos(math.pi * share)))

    @property
    def early_epoch(self) -> int:
        """The epoch after which early weights are saved: at a tenth of all epochs, as 20 of 200 in the paper."""
        return max(1, round(self.epochs / 10))

    def with_changes(self, **changes: Any) -> "Recipe":
        """Return the recipe with some options changed; None leaves an option as it is."""
        return replace(self, **{name: value for name, value in changes.items() if value is not None})

    def unnormalised(self) -> "Recipe":
        """Return the recipe for a network without normalisation layers, which would diverge at a high rate."""
        return replace(self, lr=min(self.lr, _RATE_WITHOUT_NORMALISATION))

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values."""
        return asdict(self)


PRESETS = {
    # Yang et al. 2023, section 5.1.
    "published": Recipe(epochs=200, lr=0.01),
    # A short schedule for two cores: the rate rises to a high value, then falls linearly (after Smith & Topin 2018). Rate
    # and weight decay were chosen on CIFAR-10 with ResNet-8: after 6 epochs, 0.4 with 2e-4 is one point better than 0.2
    # with 2e-4 or 5e-4, and four points better than 0.1.
    "fast": Recipe(epochs=20, lr=0.4, warmup=0.2, decay="linear", nesterov=True, weight_decay=2e-4),
}


def preset(name: str, *, normalised: bool = True) -> Recipe:
    """Return a preset by name.

    Parameters
    ----------
    name : "published" or "fast"
    normalised : whether the network has normalisation layers; without them the rate is at most 0.02, because the fast
        preset would diverge

    Examples
    --------
    >>> preset("published").epochs, preset("fast", normalised=False).lr
    (200, 0.02)
    """
    if name not in PRESETS:
        raise InputError(f"`preset={name!r}` is unknown; choose from {', '.join(PRESETS)}.")
    return PRESETS[name] if normalised else PRESETS[name].unnormalised()
