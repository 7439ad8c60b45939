"""Residual networks (He et al. 2016), optionally with squeeze-and-excitation (Hu et al. 2018).

One class covers the ImageNet family (four stages, 64 to 512 channels) and the CIFAR family (three stages, 16 to 64),
each with a stem for large images (7×7, stride 2, pooling) or for small ones (3×3). Layers are named as in torchvision
(conv1, bn1, layer1.0.conv1, ..., downsample, fc), so its ResNet-18 and ResNet-50 weights load unchanged.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    """Return a convolution without bias (normalisation follows) that keeps the image size at stride 1."""
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)


class SqueezeExcite(nn.Module):
    """Scale each channel by a gate computed from the means of all channels."""

    def __init__(self, channels: int, reduction: int = 16) -> None:
        super().__init__()
        hidden = max(channels // reduction, 4)
        self.squeeze, self.excite = nn.Linear(channels, hidden), nn.Linear(hidden, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Return the gated maps."""
        gate = torch.sigmoid(self.excite(relu(self.squeeze(x.mean(dim=(2, 3))))))
        return x * gate[:, :, None, None]


class Block(nn.Module):
    """A residual branch and its shortcut.

    Parameters
    ----------
    inputs, width, stride : input channels, inner channels, and the factor by which the maps shrink
    wide : False for two 3×3 convolutions, True for a bottleneck of 1×1, 3×3 and 1×1 with four times as many outputs
    gated : use squeeze-and-excitation
    """

    def __init__(self, inputs: int, width: int, stride: int, *, wide: bool, gated: bool) -> None:
        super().__init__()
        shapes = ((1, 1, width), (3, stride, width), (1, 1, 4 * width)) if wide else ((3, stride, width), (3, 1, width))
        self.depth, self.outputs, before = len(shapes), shapes[-1][2], inputs
        for nth, (kernel, step, after) in enumerate(shapes, start=1):
            self.add_module(f"conv{nth}", conv(before, after, kernel, step))
            self.add_module(f"bn{nth}", nn.BatchNorm2d(after))
            before = after
        self.gate = SqueezeExcite(self.outputs) if gated else nn.Identity()
        same = inputs == self.outputs and stride == 1
        self.downsample = (
            nn.Identity()
            if same
            else nn.Sequential(conv(inputs, self.outputs, 1, stride), nn.BatchNorm2d(self.outputs))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(branch + shortcut)."""
        branch = x
        for nth in range(1, self.depth + 1):
            branch = getattr(self, f"bn{nth}")(getattr(self, f"conv{nth}")(branch))
            if nth < self.depth:
                branch = relu(branch)
        return relu(self.gate(branch) + self.downsample(x))


class ResNet(nn.Module):
    """A residual network whose head is the linear layer `fc`.

    Parameters
    ----------
    classes, channels : number of outputs, and of channels in the images
    depths, widths : blocks and channels of each stage
    stem : "small" for images of up to 64 pixels, "large" for more
    wide, gated : kind of block, see `Block`
    """

    def __init__(
        self,
        classes: int,
        channels: int,
        depths: tuple[int, ...],
        widths: tuple[int, ...],
        *,
        stem: str,
        wide: bool = False,
        gated: bool = False,
    ) -> None:
        super().__init__()
        width, large = widths[0], stem == "large"
        self.conv1 = conv(channels, width, 7, 2) if large else conv(channels, width, 3)
        self.bn1 = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, 2, padding=1) if large else nn.Identity()
        self.stages = len(depths)
        for stage, (depth, stage_width) in enumerate(zip(depths, widths, strict=True), start=1):
            blocks = []
            for nth in range(depth):
                stride = 2 if stage > 1 and nth == 0 else 1
                blocks.append(Block(width, stage_width, stride, wide=wide, gated=gated))
                width = blocks[-1].outputs
            self.add_module(f"layer{stage}", nn.Sequential(*blocks))
        self.fc = nn.Linear(width, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        maps = self.pool(relu(self.bn1(self.conv1(images))))
        for stage in range(1, self.stages + 1):
            maps = getattr(self, f"layer{stage}")(maps)
        logits: Tensor = self.fc(maps.mean(dim=(2, 3)))
        return logits
