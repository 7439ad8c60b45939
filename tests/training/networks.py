"""Small generated image sets, and a network that learns them in seconds."""

import numpy as np
import torch
from torch import nn

from leanset.data import Images


def striped_images(n=96, *, classes=3, size=16, seed=0, held_out=48):
    """Images whose class is the period of their stripes, in random colours and with noise."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n + held_out) % classes
    wave = np.sin(
        2 * np.pi * np.arange(size)[None, :] * (labels + 1)[:, None] / size + rng.uniform(0, 6, (n + held_out, 1))
    )
    grey = np.broadcast_to(wave[:, None, None, :], (n + held_out, 3, size, size))
    pixels = 128 + 60 * grey * rng.uniform(0.5, 1, (n + held_out, 3, 1, 1)) + rng.normal(0, 20, grey.shape)
    pixels = np.clip(pixels, 0, 255).astype(np.uint8)
    names = tuple(f"period {c + 1}" for c in range(classes))
    other = Images(pixels[n:], labels[n:], names) if held_out else None
    return Images(pixels[:n], labels[:n], names, held_out=other)


class Tiny(nn.Module):
    """A convolution, a normalisation and a linear head."""

    def __init__(self, classes=3, width=6):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width)
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        return self.fc(torch.relu(self.bn(self.conv(x))).mean(dim=(2, 3)))


def tiny(seed=0, **options):
    torch.manual_seed(seed)
    return Tiny(**options)
