from torch import Tensor, nn

from leanset.training.models.whitening import Whitening

NARROW_WIDTHS = (16, 64, 64)
HALF_WIDTHS = (32, 128, 128)
FULL_WIDTHS = (64, 256, 256)
_FEATURE_SCALE = 1 / 9
_NEW_SHARE_OF_STATISTICS = 0.4  # trainings are short, so running means must forget fast


class QuickNet(nn.Module):
    """A small plain network that learns in few epochs: whitened patches, three blocks of two convolutions, a linear head.

    The shape and its details are those of airbench94 (Jordan 2024, arXiv:2404.00498), after Page's ResNet-9 (2018). There
    the logits are multiplied by 1/9. Here the features are, which gives the same logits, and the head stays the last step.

    Parameters
    ----------
    classes, channels : number of outputs, and of channels in the images, which have at least 9 pixels a side
    widths : channels of the three blocks
    """

    def __init__(self, classes: int, channels: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.whitening = Whitening(channels)
        inputs, blocks = self.whitening.out_channels, []
        for width in widths:
            blocks.append(_block(inputs, width))
            inputs = width
        self.blocks = nn.Sequential(nn.GELU(), *blocks)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        maps = self.blocks(self.whitening(images))
        logits: Tensor = self.fc(maps.amax(dim=(2, 3)) * _FEATURE_SCALE)
        return logits


def _block(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(
        _conv(inputs, width),
        nn.MaxPool2d(2),
        _norm(width),
        nn.GELU(),
        _conv(width, width),
        _norm(width),
        nn.GELU(),
    )


def _conv(inputs: int, width: int) -> nn.Conv2d:
    """Return a convolution whose first filters pass the inputs on unchanged at the start."""
    conv = nn.Conv2d(inputs, width, 3, padding=1, bias=False)
    nn.init.dirac_(conv.weight.data[:inputs])
    return conv


def _norm(width: int) -> nn.BatchNorm2d:
    """Return a normalisation that learns a bias but no scale."""
    norm = nn.BatchNorm2d(width, momentum=_NEW_SHARE_OF_STATISTICS)
    norm.weight.requires_grad_(False)
    return norm
