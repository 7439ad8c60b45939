from collections.abc import Callable

from torch import nn

from leanset._errors import InputError
from leanset.training.models.convnet import Conv4, ConvNet, ConvNetDesign
from leanset.training.models.lenet import LeNet
from leanset.training.models.quick import FULL_WIDTHS, HALF_WIDTHS, NARROW_WIDTHS, QuickNet
from leanset.training.models.resnet import ResNet
from leanset.training.models.squeezenet import SqueezeNet

_SMALL = (16, 32, 64)
_LARGE = (64, 128, 256, 512)
_SEARCHED = "convnet-"  # prefix of the names in the search space
_ONE_STEM = ("conv4", "lenet", "quick", "quick-narrow", "quick-wide")
_LARGEST_SMALL_IMAGE = 64  # pixels a side; up to this size the stem must not shrink the image

Builder = Callable[[int, int, str], nn.Module]  # classes, channels, stem

MODELS: dict[str, Builder] = {
    "conv4": lambda classes, channels, stem: Conv4(classes, channels),
    "lenet": lambda classes, channels, stem: LeNet(classes, channels),
    "quick": lambda classes, channels, stem: QuickNet(classes, channels, HALF_WIDTHS),
    "quick-narrow": lambda classes, channels, stem: QuickNet(classes, channels, NARROW_WIDTHS),
    "quick-wide": lambda classes, channels, stem: QuickNet(classes, channels, FULL_WIDTHS),
    "resnet8": lambda classes, channels, stem: ResNet(classes, channels, (1, 1, 1), _SMALL, stem=stem),
    "resnet20": lambda classes, channels, stem: ResNet(classes, channels, (3, 3, 3), _SMALL, stem=stem),
    "resnet18": lambda classes, channels, stem: ResNet(classes, channels, (2, 2, 2, 2), _LARGE, stem=stem),
    "resnet50": lambda classes, channels, stem: ResNet(classes, channels, (3, 4, 6, 3), _LARGE, stem=stem, wide=True),
    "se-resnet20": lambda classes, channels, stem: ResNet(classes, channels, (3, 3, 3), _SMALL, stem=stem, gated=True),
    "se-resnet18": lambda classes, channels, stem: ResNet(
        classes, channels, (2, 2, 2, 2), _LARGE, stem=stem, gated=True
    ),
    "squeezenet": lambda classes, channels, stem: SqueezeNet(classes, channels, stem=stem),
}


_NORMALISATIONS = (
    nn.modules.batchnorm._BatchNorm,
    nn.modules.instancenorm._InstanceNorm,
    nn.GroupNorm,
    nn.LayerNorm,
)


def is_normalised(model: nn.Module) -> bool:
    """Return whether a network has normalisation layers, which allow a high learning rate.

    Examples
    --------
    >>> is_normalised(build_model("resnet8", 10)), is_normalised(build_model("lenet", 10))
    (True, False)
    """
    return any(isinstance(module, _NORMALISATIONS) for module in model.modules())


def has_stems(name: str) -> bool:
    """Return whether a network of the zoo comes with a small and a large stem.

    Examples
    --------
    >>> has_stems("resnet18"), has_stems("convnet-3-128-relu-instance-average")
    (True, False)
    """
    return name not in _ONE_STEM and not name.startswith(_SEARCHED)


def build_model(
    name: str, classes: int, *, channels: int = 3, image_size: int | None = None, stem: str = "auto"
) -> nn.Module:
    """Build a network of the zoo, with random weights and a linear head named `fc`.

    Parameters
    ----------
    name : one of `MODELS`, or a ConvNet of the search space such as "convnet-3-128-relu-instance-average"
    classes, channels : number of outputs, and of channels in the images
    image_size : pixels of the longer side; sets the stem if that is "auto", and the head of a ConvNet (None: 32)
    stem : "small" (3×3 convolution), "large" (7×7 with stride 2, then pooling) or "auto"

    Examples
    --------
    >>> sum(weights.numel() for weights in build_model("resnet20", 10, image_size=32).parameters())
    272474
    """
    if name.startswith(_SEARCHED):
        return ConvNet(ConvNetDesign.named(name), classes, channels, image_size or 32)
    if name not in MODELS:
        raise InputError(f"`model={name!r}` is unknown; choose from {', '.join(sorted(MODELS))} or the ConvNets.")
    if stem not in ("auto", "small", "large"):
        raise InputError(f"`stem={stem!r}` must be 'auto', 'small' or 'large'.")
    if stem == "auto":
        stem = "small" if image_size is None or image_size <= _LARGEST_SMALL_IMAGE else "large"
    return MODELS[name](classes, channels, stem)
