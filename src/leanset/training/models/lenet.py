from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu


class LeNet(nn.Module):
    """LeNet-5 (LeCun et al. 1998) with ReLU and max pooling, for grey or colour images of at least 12 pixels a side.

    Parameters
    ----------
    classes, channels : number of outputs, and of channels in the images
    """

    def __init__(self, classes: int, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.pool = nn.AdaptiveMaxPool2d(5)  # an image of 28 pixels has 10 left here, so this is the usual 2×2 pooling
        self.fc1, self.fc2, self.fc = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits."""
        maps = self.pool(relu(self.conv2(max_pool2d(relu(self.conv1(images)), 2))))
        logits: Tensor = self.fc(relu(self.fc2(relu(self.fc1(maps.flatten(1))))))
        return logits
