import math
from dataclasses import dataclass, fields, replace
from typing import Any

from leanset._errors import InputError
from leanset.training.views import COPIES, NO_COPIES

PADDINGS = ("black", "reflect")
BFLOAT16, FASTEST = "bfloat16", "fastest"
PRECISIONS = ("default", BFLOAT16, FASTEST)
_RATE_WITHOUT_NORMALISATION = 0.02  # LeNet on CIFAR-10 diverges at ten times this
_EXAMPLES_OF_DECOUPLED_RATE = 1024
# Options that came later. Where they have their default, folders made before are still those of the same recipe.
_LATER = frozenset(
    (
        *("lr_start", "lr_end", "decoupled", "bias_lr_factor", "muon_lr", "lookahead"),
        *("padding", "alternating_flip", "whitening_bias", "test_copies", "precision"),
    )
)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _demand(recipe: "Recipe", name: str, holds: bool, legal: str) -> None:
    if not holds:
        raise InputError(f"`Recipe({name}={getattr(recipe, name)!r})` must be {legal}.")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a network is trained: SGD with momentum, one learning-rate curve, random crops and flips.

    The penalty applies to every weight of the head, including its bias. So `weight_decay` is exactly the l2 of the head's
    problem.

    Parameters
    ----------
    epochs, batch_size : passes over the data, examples per step
    lr : highest learning rate
    decoupled : `lr` is how far a gradient moves the weights over all steps, at 1,024 examples a step; so it need not be
        changed with `batch_size` or `momentum`
    warmup : share of the steps in which the rate rises to its top
    decay : how the rate falls afterwards, "cosine" or "linear"
    lr_start, lr_end : rate at the beginning and at the end, as shares of its top
    momentum, nesterov, weight_decay, label_smoothing : as in `torch.optim.SGD` and `torch.nn.CrossEntropyLoss`
    bias_lr_factor : factor on the rate for the biases of batch normalisation; their weight decay is divided by it
    muon_lr : rate of Muon for convolution filters, which then have no weight decay; 0 leaves them to SGD
    lookahead : the share of a running mean of the weights that one step leaves in place, at the end of the training; 0 for
        no mean. The weights return to the mean every few steps, and end there
    crop : pixels of padding for random crops; 0 for none
    padding : what lies beyond the edge of a crop, "black" or "reflect"
    flip : mirror each image with probability 1/2
    alternating_flip : mirror each image in every second epoch instead, half of the images in the first one
    whitening_bias : share of the epochs in which the bias of a `Whitening` layer learns
    test_copies : copies of a held-out image over which logits are averaged: "none", "mirrored" or "mirrored-shifted"
    precision : of the steps' products and convolutions: "default" is float32 on a CPU and mixed on a GPU; "bfloat16" is
        mixed on a CPU too, nearly twice as fast where it has instructions for it; "fastest" is "bfloat16" there, and
        "default" elsewhere

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
    decoupled: bool = False
    lr_start: float = 0.0
    lr_end: float = 0.0
    bias_lr_factor: float = 1.0
    muon_lr: float = 0.0
    lookahead: float = 0.0
    padding: str = "black"
    alternating_flip: bool = False
    whitening_bias: float = 0.0
    test_copies: str = NO_COPIES
    precision: str = "default"

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size"):
            _demand(self, name, isinstance(getattr(self, name), int) and getattr(self, name) >= 1, "a whole number ≥ 1")
        for name in ("lr", "weight_decay", "bias_lr_factor"):
            _demand(self, name, _is_number(getattr(self, name)) and getattr(self, name) > 0, "positive")
        for name in ("warmup", "momentum", "label_smoothing", "lookahead"):
            _demand(self, name, _is_number(getattr(self, name)) and 0 <= getattr(self, name) < 1, "in [0, 1)")
        for name in ("lr_start", "lr_end", "whitening_bias"):
            _demand(self, name, _is_number(getattr(self, name)) and 0 <= getattr(self, name) <= 1, "in [0, 1]")
        _demand(self, "muon_lr", _is_number(self.muon_lr) and self.muon_lr >= 0, "0 or positive")
        _demand(self, "decay", self.decay in ("cosine", "linear"), "'cosine' or 'linear'")
        _demand(self, "crop", isinstance(self.crop, int) and self.crop >= 0, "a whole number ≥ 0")
        for name, words in (("padding", PADDINGS), ("test_copies", COPIES), ("precision", PRECISIONS)):
            _demand(self, name, getattr(self, name) in words, " or ".join(map(repr, words)))

    @property
    def top_rate(self) -> float:
        """The highest learning rate as the optimiser takes it, for the mean loss of a batch."""
        if not self.decoupled:
            return self.lr
        # Momentum repeats a gradient m, m², ... times, 1/(1 − m) times in all, with Nesterov's rule or without.
        return self.lr * (1 - self.momentum) * self.batch_size / _EXAMPLES_OF_DECOUPLED_RATE

    def rate_at(self, step: int, steps: int) -> float:
        """Return the learning rate at step `step` of `steps`."""
        return self.top_rate * self.share_at(step, steps)

    def share_at(self, step: int, steps: int) -> float:
        """Return the learning rate at step `step` of `steps` as a share of its top."""
        rising = self.warmup * steps
        if step < rising:
            return self.lr_start + (1 - self.lr_start) * step / rising
        done = min(1.0, (step - rising) / max(steps - rising, 1))
        left = 1 - done if self.decay == "linear" else 0.5 * (1 + math.cos(math.pi * done))
        return self.lr_end + (1 - self.lr_end) * left

    @property
    def copies(self) -> str:
        """The `test_copies`, but none where mirroring would change what an image shows."""
        return self.test_copies if self.flip else NO_COPIES

    def learns_whitening_bias(self, epoch: int) -> bool:
        """Return whether the bias of a `Whitening` layer learns in an epoch, counted from 0."""
        return epoch < round(self.whitening_bias * self.epochs)

    @property
    def early_epoch(self) -> int:
        """The epoch after which early weights are saved: at a tenth of all epochs, as 20 of 200 in the paper."""
        return max(1, round(self.epochs / 10))

    def with_changes(self, **changes: Any) -> "Recipe":
        """Return the recipe with some options changed; None leaves an option as it is."""
        return replace(self, **{name: value for name, value in changes.items() if value is not None})

    def unnormalised(self) -> "Recipe":
        """Return the recipe for a network without normalisation layers, which would diverge at a high rate."""
        return replace(self, lr=min(self.top_rate, _RATE_WITHOUT_NORMALISATION), decoupled=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values; of those that came later, only what differs from the default."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        defaults = {field.name: field.default for field in fields(self) if field.name in _LATER}
        return {name: value for name, value in values.items() if name not in _LATER or value != defaults[name]}


# For the networks `quick`, `quick-narrow` and `quick-wide`. Values and most ideas are those of airbench94 (Jordan 2024,
# arXiv:2404.00498, github.com/KellerJordan/airbench), who builds on Page's ResNet-9 for DAWNBench (2018). Its rate of 11.5 is
# 10 in our unit: 11.5/(1 + 1/(1 − m)) = 10·(1 − m). Its weight decay of 0.0153 is not multiplied by the rate; divided by
# 11.5, it is the l2 of the mean loss.
_QUICK = Recipe(
    epochs=10,
    lr=10.0,
    decoupled=True,
    batch_size=256,
    warmup=0.23,
    decay="linear",
    lr_start=0.2,
    lr_end=0.07,
    momentum=0.85,
    nesterov=True,
    weight_decay=0.0153 / 11.5,
    label_smoothing=0.2,
    bias_lr_factor=64.0,
    lookahead=0.95,
    crop=2,
    padding="reflect",
    alternating_flip=True,
    whitening_bias=0.3,
    test_copies="mirrored",
)

PRESETS = {
    # Yang et al. 2023, section 5.1.
    "published": Recipe(epochs=200, lr=0.01),
    # A short schedule for two cores: the rate rises to a high value, then falls linearly (after Smith & Topin 2018). Rate
    # and weight decay were chosen on CIFAR-10 with ResNet-8: after 6 epochs, 0.4 with 2e-4 is one point better than 0.2
    # with 2e-4 or 5e-4, and four points better than 0.1.
    "fast": Recipe(epochs=20, lr=0.4, warmup=0.2, decay="linear", nesterov=True, weight_decay=2e-4),
    "quick": _QUICK,
    "quick-narrow": _QUICK,
    "quick-wide": replace(_QUICK, epochs=12),  # three minutes each on two cores
}


def preset_of(model: str) -> str:
    """Return the name of the preset that a network of the zoo is trained with, unless another one is given.

    Examples
    --------
    >>> preset_of("quick"), preset_of("resnet20")
    ('quick', 'fast')
    """
    return model if model in PRESETS else "fast"


def preset(name: str, *, normalised: bool = True) -> Recipe:
    """Return a preset by name.

    Parameters
    ----------
    name : "published", "fast", "quick", "quick-narrow" or "quick-wide"
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
