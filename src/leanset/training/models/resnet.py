"""Residual networks (He et al. 2016), with squeeze-and-excitation (Hu et al. 2018) if wanted.

One class for all: the ImageNet family (four stages, 64 to 512 channels) and the CIFAR family (three stages, 16 to 64),
each with a stem for large images (7×7, stride 2, pooling) or for small ones (3×3).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import relu


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    """Return a convolution that keeps the size at stride 1 and leaves the bias to the normalisation after it."""
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)


class SqueezeExcite(nn.Module):
    """Scale each channel by a gate computed from all channels' means."""

    def __init__(self, channels: int, reduction: int = 16) -> None:
        super().__init__()
        hidden = max(channels // reduction, 4)
        self.squeeze, self.excite = nn.Linear(channels, hidden), nn.Linear(hidden, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Return the gated maps."""
        gate = torch.sigmoid(self.excite(relu(self.squeeze(x.mean(dim=(2, 3))))))
        return x * gate[:, :, None, None]


class Block(nn.Module):
    """A residual branch and its shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int, branch: nn.Sequential, *, gated: bool) -> None:
        super().__init__()
        self.branch = branch
        self.gate = SqueezeExcite(outputs) if gated else nn.Identity()
        plain = inputs == outputs and stride == 1
        self.shortcut = (
            nn.Identity() if plain else nn.Sequential(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(branch + shortcut)."""
        return relu(self.gate(self.branch(x)) + self.shortcut(x))


def basic_block(inputs: int, width: int, stride: int, *, gated: bool) -> tuple[Block, int]:
    """Return two 3×3 convolutions and the number of channels they give."""
    branch = nn.Sequential(
        conv(inputs, width, 3, stride),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        conv(width, width, 3),
        nn.BatchNorm2d(width),
    )
    return Block(inputs, width, stride, branch, gated=gated), width


def bottleneck_block(inputs: int, width: int, stride: int, *, gated: bool) -> tuple[Block, int]:
    """Return 1×1, 3×3 and 1×1 convolutions and the number of channels they give."""
    outputs = 4 * width
    branch = nn.Sequential(
        conv(inputs, width, 1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        conv(width, width, 3, stride),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        conv(width, outputs, 1),
        nn.BatchNorm2d(outputs),
    )
    return Block(inputs, outputs, stride, branch, gated=gated), outputs


class ResNet(nn.Module):
    """A residual network whose head is the linear layer `fc`.

    Parameters
    ----------
    classes, channels : outputs, and channels of the images
    depths, widths : blocks and channels of each stage
    block : `basic_block` or `bottleneck_block`
    stem : "small" for images of up to 64 pixels, "large" for more
    gated : with squeeze-and-excitation
    """

    def __init__(
        self,
        classes: int,
        channels: int,
        depths: tuple[int, ...],
        widths: tuple[int, ...],
        block: Callable[..., tuple[Block, int]] = basic_block,
        *,
        stem: str,
        gated: bool = False,
    ) -> None:
        super().__init__()
        width = widths[0]
        large = stem == "large"
        self.stem = nn.Sequential(
            conv(channels, width, 7, 2) if large else conv(channels, width, 3),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, padding=1) if large else nn.Identity(),
        )
        blocks: list[Block] = []
        for stage, (depth, stage_width) in enumerate(zip(depths, widths, strict=True)):
            for nth in range(depth):
                made, width = block(width, stage_width, 2 if stage and nth == 0 else 1, gated=gated)
                blocks.append(made)
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(width, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        logits: Tensor = self.fc(self.blocks(self.stem(images)).mean(dim=(2, 3)))
        return logits
