"""Plain convolutional networks: the 720 of the architecture search, and a small one for CPUs.

The search space is that of Zhao et al. (2021, *Dataset condensation*), which the paper uses too. Depth, width,
activation, normalisation and pooling vary; everything else is the same. A network is named by its choices, for
example "convnet-3-128-relu-instance-average".
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from leanset._errors import InputError

DEPTHS = (1, 2, 3, 4)
WIDTHS = (32, 64, 128, 256)
ACTIVATIONS = ("sigmoid", "relu", "leaky")
NORMALISATIONS = ("none", "batch", "layer", "instance", "group")
POOLINGS = ("none", "max", "average")

_ACTIVATION: dict[str, Callable[[], nn.Module]] = {
    "sigmoid": nn.Sigmoid,
    "relu": nn.ReLU,
    "leaky": lambda: nn.LeakyReLU(0.01),
}
_POOLING = {"max": nn.MaxPool2d, "average": nn.AvgPool2d}
_GROUPS = 4


@dataclass(frozen=True)
class ConvNetDesign:
    """One network of the search space: `depth` times convolution, normalisation, activation, pooling.

    Examples
    --------
    >>> ConvNetDesign.named("convnet-3-128-relu-instance-average").width
    128
    """

    depth: int
    width: int
    activation: str
    normalisation: str
    pooling: str

    @property
    def name(self) -> str:
        """The name to give to `build_model`."""
        return f"convnet-{self.depth}-{self.width}-{self.activation}-{self.normalisation}-{self.pooling}"

    @classmethod
    def named(cls, name: str) -> "ConvNetDesign":
        """Return the design with this name."""
        if name not in CONVNETS:
            raise InputError(
                f"`model={name!r}` is unknown; a ConvNet is named convnet-DEPTH-WIDTH-ACTIVATION-NORMALISATION-POOLING, with "
                f"depth {DEPTHS}, width {WIDTHS}, {', '.join(ACTIVATIONS)}; {', '.join(NORMALISATIONS)}; "
                f"{', '.join(POOLINGS)}."
            )
        return CONVNETS[name]

    def multiply_adds(self, channels: int, image_size: int) -> int:
        """Return the number of multiplications in the convolutions for one image: their cost on a GPU.

        Examples
        --------
        >>> ConvNetDesign(1, 32, "relu", "none", "none").multiply_adds(3, 32) == 3 * 32 * 9 * 32 * 32
        True
        """
        inputs = (channels, *[self.width] * (self.depth - 1))
        sides = self._sides(image_size)
        return sum(each * self.width * 9 * side * side for each, side in zip(inputs, sides, strict=True))

    def map_entries(self, image_size: int) -> int:
        """Return how many numbers the convolutions output for one image.

        On a CPU this predicts the training time better than the multiplications do. A shallow wide network multiplies
        little, but it has large maps to move through memory.

        Examples
        --------
        >>> ConvNetDesign(2, 32, "relu", "none", "max").map_entries(32) == 32 * (32 * 32 + 16 * 16)
        True
        """
        return sum(self.width * side * side for side in self._sides(image_size))

    def _sides(self, image_size: int) -> list[int]:
        """Return the side length, in pixels, of the input of each convolution."""
        return [image_size if self.pooling == "none" else max(1, image_size >> nth) for nth in range(self.depth)]


CONVNETS = {
    design.name: design
    for design in itertools.starmap(
        ConvNetDesign, itertools.product(DEPTHS, WIDTHS, ACTIVATIONS, NORMALISATIONS, POOLINGS)
    )
}


class ConvNet(nn.Module):
    """A network of the search space, with a linear head on its flattened maps.

    Parameters
    ----------
    design : its choices
    classes, channels : number of outputs, and of channels in the images
    image_size : side length in pixels; the width of the head depends on it
    """

    def __init__(self, design: ConvNetDesign, classes: int, channels: int, image_size: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        side, inputs = image_size, channels
        for _ in range(design.depth):
            layers.append(nn.Conv2d(inputs, design.width, 3, padding=1))
            layers += _normalisation(design.normalisation, design.width)
            layers.append(_ACTIVATION[design.activation]())
            if design.pooling != "none" and side > 1:
                layers.append(_POOLING[design.pooling](2))
                side //= 2
            inputs = design.width
        self.maps = nn.Sequential(*layers)
        self.fc = nn.Linear(design.width * side * side, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        logits: Tensor = self.fc(self.maps(images).flatten(1))
        return logits


def _normalisation(kind: str, width: int) -> list[nn.Module]:
    if kind == "batch":
        return [nn.BatchNorm2d(width)]
    groups = {
        "layer": 1,
        "instance": width,
        "group": _GROUPS,
    }  # all three are group normalisation with this many groups
    return [nn.GroupNorm(groups[kind], width)] if kind in groups else []


class Conv4(nn.Module):
    """Four convolutions with batch normalisation and pooling, which two CPU cores train in minutes.

    Its head is as narrow as that of a ResNet-20, so exact influence vectors are fast to compute.

    Parameters
    ----------
    classes, channels : number of outputs, and of channels in the images
    """

    _WIDTHS = (16, 32, 64, 64)

    def __init__(self, classes: int, channels: int) -> None:
        super().__init__()
        blocks, inputs = [], channels
        for nth, width in enumerate(self._WIDTHS):
            blocks += [nn.Conv2d(inputs, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
            if nth < len(self._WIDTHS) - 1:
                blocks.append(nn.MaxPool2d(2))
            inputs = width
        self.maps = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1))
        self.fc = nn.Linear(inputs, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        logits: Tensor = self.fc(self.maps(images).flatten(1))
        return logits
