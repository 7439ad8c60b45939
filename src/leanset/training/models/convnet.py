"""Plain convolutional networks: the 720 of the architecture search, and a small one for processors.

The search space is that of Zhao et al. (2021, *Dataset condensation*), which the paper takes over: depth, width,
activation, normalisation and pooling vary, everything else is the same. A member is named by its choices, for
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
    """One member of the search space: `depth` times convolution, normalisation, activation, pooling.

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
        """What `build_model` knows it by."""
        return f"convnet-{self.depth}-{self.width}-{self.activation}-{self.normalisation}-{self.pooling}"

    @classmethod
    def named(cls, name: str) -> "ConvNetDesign":
        """Read a name."""
        if name not in CONVNETS:
            raise InputError(
                f"model {name!r} is unknown; a ConvNet is called convnet-DEPTH-WIDTH-ACTIVATION-NORMALISATION-POOLING, with "
                f"depth {DEPTHS}, width {WIDTHS}, {', '.join(ACTIVATIONS)}; {', '.join(NORMALISATIONS)}; "
                f"{', '.join(POOLINGS)}."
            )
        return CONVNETS[name]

    def multiply_adds(self, channels: int, image_size: int) -> int:
        """Return the multiplications of the convolutions for one image, which is what they cost on a GPU.

        Examples
        --------
        >>> ConvNetDesign(1, 32, "relu", "none", "none").multiply_adds(3, 32) == 3 * 32 * 9 * 32 * 32
        True
        """
        inputs = (channels, *[self.width] * (self.depth - 1))
        sides = self._sides(image_size)
        return sum(each * self.width * 9 * side * side for each, side in zip(inputs, sides, strict=True))

    def map_entries(self, image_size: int) -> int:
        """Return the numbers that the convolutions put out for one image.

        They tell what training costs on a processor better than the multiplications do: a shallow wide network
        multiplies little and still has large maps to move through memory.

        Examples
        --------
        >>> ConvNetDesign(2, 32, "relu", "none", "max").map_entries(32) == 32 * (32 * 32 + 16 * 16)
        True
        """
        return sum(self.width * side * side for side in self._sides(image_size))

    def _sides(self, image_size: int) -> list[int]:
        """Return the pixels of a side that each convolution sees."""
        return [image_size if self.pooling == "none" else max(1, image_size >> nth) for nth in range(self.depth)]


CONVNETS = {
    design.name: design
    for design in itertools.starmap(
        ConvNetDesign, itertools.product(DEPTHS, WIDTHS, ACTIVATIONS, NORMALISATIONS, POOLINGS)
    )
}


class ConvNet(nn.Module):
    """A member of the search space, with a linear head on its flattened maps.

    Parameters
    ----------
    design : its choices
    classes, channels : outputs, and channels of the images
    image_size : pixels of a side, on which the head's width depends
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
    groups = {"layer": 1, "instance": width, "group": _GROUPS}  # all three are group normalisation, by number of groups
    return [nn.GroupNorm(groups[kind], width)] if kind in groups else []


class Conv4(nn.Module):
    """Four convolutions with batch normalisation and pooling: what two processor cores train in minutes.

    Its head is as narrow as a ResNet-20's, so its influence vectors are exact and quick.

    Parameters
    ----------
    classes, channels : outputs, and channels of the images
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
