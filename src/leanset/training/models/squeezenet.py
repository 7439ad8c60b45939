import torch
from torch import Tensor, nn
from torch.nn.functional import relu


class Fire(nn.Module):
    """Squeeze to few channels, then expand by 1×1 and 3×3 convolutions side by side."""

    def __init__(self, inputs: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.narrow = nn.Conv2d(squeezed, expanded, 1)
        self.wide = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Return both expansions, concatenated along the channels."""
        x = relu(self.squeeze(x))
        return torch.cat((relu(self.narrow(x)), relu(self.wide(x))), dim=1)


class SqueezeNet(nn.Module):
    """SqueezeNet 1.0 (Iandola et al. 2016), with its last 1×1 convolution moved after the pooling.

    After the pooling it is a linear head, which influence vectors need. The weights are the same in both orders. So are
    the logits, except for the ReLU that the published network has after that convolution.

    Parameters
    ----------
    classes, channels : number of outputs, and of channels in the images
    stem : "small" for images of up to 64 pixels, "large" for more
    """

    def __init__(self, classes: int, channels: int, *, stem: str) -> None:
        super().__init__()
        large = stem == "large"
        self.features = nn.Sequential(
            nn.Conv2d(channels, 96, 7, 2) if large else nn.Conv2d(channels, 96, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(96, 16, 64),
            Fire(128, 16, 64),
            Fire(128, 32, 128),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(256, 32, 128),
            Fire(256, 48, 192),
            Fire(384, 48, 192),
            Fire(384, 64, 256),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Fire(512, 64, 256),
        )
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(512, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
                assert module.bias is not None
                nn.init.zeros_(module.bias)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        logits: Tensor = self.fc(self.drop(self.features(images).mean(dim=(2, 3))))
        return logits
