"""Where a network's inputs come from: images stored as bytes and augmented one batch at a time.

Augmenting one image at a time in Python is slow. Here a batch is collected as uint8, moved to the device, and cropped,
flipped and scaled there in a few tensor operations.
"""

import contextvars
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from leanset._arrays import Mask, Rows
from leanset._errors import InputError
from leanset.data import Images
from leanset.training.augmentation import augmented
from leanset.training.recipe import Recipe

_SAMPLE_FOR_SCALE = 10_000  # images used to measure the mean and deviation of each channel


@dataclass(frozen=True)
class Batch:
    """Inputs ready for the network, their labels, and their places (row numbers) in the data."""

    inputs: Tensor
    labels: Tensor
    places: Tensor


class Batches(Protocol):
    """Data to train a network on, or to evaluate it on."""

    def __len__(self) -> int: ...

    def training(
        self,
        steps: Iterable[Rows],
        recipe: Recipe,
        device: torch.device,
        seed: int,
        mirrored: Mask | None = None,
    ) -> Iterator[Batch]:
        """Yield augmented batches, one for each array of places.

        `mirrored` says for each example whether to mirror it; if it is None, the seed decides.
        """

    def plain(self, steps: Iterable[Rows], device: torch.device) -> Iterator[Batch]:
        """Yield batches without augmentation."""

    def shared(self) -> "Batches | None":
        """Return what every worker of a cluster needs once, for all places; None if `cut` brings what is needed."""

    def cut(self, places: Rows) -> "tuple[Batches | None, Rows]":
        """Return what a worker needs for some places, if it is not what is shared, and their places in it."""


@dataclass(frozen=True)
class PixelScale:
    """Mean and standard deviation of each channel, for pixel values from 0 to 1."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.mean) != len(self.deviation) or not np.isfinite([*self.mean, *self.deviation]).all():
            raise InputError(
                f"`PixelScale(mean={self.mean}, deviation={self.deviation})` must hold one finite number per channel each."
            )
        if min(self.deviation) <= 0:
            raise InputError(f"`PixelScale(deviation={self.deviation})` must be positive.")

    @classmethod
    def of(cls, images: Images) -> "PixelScale":
        """Measure the scale on images taken at even distances from the data.

        Examples
        --------
        >>> pixels = np.array([0, 255], np.uint8).reshape(2, 1, 1, 1).repeat(4, axis=2)
        >>> PixelScale.of(Images(pixels, np.array([0, 1]), ("a", "b")))
        PixelScale(mean=(0.5,), deviation=(0.5,))
        """
        places = np.unique(np.linspace(0, len(images) - 1, _SAMPLE_FOR_SCALE).astype(np.int64))
        totals = np.zeros((2, images.channels))
        for chunk in np.array_split(places, -(-len(places) // 1000)):
            sample = images.pixels[chunk].astype(np.float64) / 255
            totals += sample.mean(axis=(2, 3)).sum(axis=0), (sample**2).mean(axis=(2, 3)).sum(axis=0)
        mean, square = totals / len(places)
        deviation = np.sqrt(np.maximum(square - mean**2, 1e-6))
        return cls(tuple(mean.tolist()), tuple(deviation.tolist()))


class ImageBatches:
    """Batches from `Images`.

    Parameters
    ----------
    images : the data
    scale : mean and deviation of the pixels; measured on the images if None
    """

    def __init__(self, images: Images, scale: PixelScale | None = None) -> None:
        self.images = images
        self.scale = scale or PixelScale.of(images)
        if len(self.scale.mean) != images.channels:
            raise InputError(
                f"`scale={self.scale}` must have one number per channel; the images have {images.channels} channels."
            )

    def __len__(self) -> int:
        return len(self.images)

    def training(
        self,
        steps: Iterable[Rows],
        recipe: Recipe,
        device: torch.device,
        seed: int,
        mirrored: Mask | None = None,
    ) -> Iterator[Batch]:
        """Yield randomly cropped and mirrored batches."""
        generator = torch.Generator(device).manual_seed(seed)
        told = None if mirrored is None else torch.from_numpy(mirrored).to(device)
        for batch in self._raw(steps, device):
            flags = None if told is None else told[batch.places]
            pixels = augmented(batch.inputs, recipe, generator, mirrored=flags)
            yield Batch(self._scaled(pixels), batch.labels, batch.places)

    def plain(self, steps: Iterable[Rows], device: torch.device) -> Iterator[Batch]:
        """Yield batches of unchanged images."""
        for batch in self._raw(steps, device):
            yield Batch(self._scaled(batch.inputs), batch.labels, batch.places)

    def shared(self) -> None:
        """Return nothing: each worker gets its images only."""

    def cut(self, places: Rows) -> tuple[Batches, Rows]:
        """Return the images at some places."""
        return ImageBatches(replace(self.images.take(places), held_out=None), self.scale), np.arange(len(places))

    def _raw(self, steps: Iterable[Rows], device: torch.device) -> Iterator[Batch]:
        in_memory = isinstance(self.images.pixels, np.ndarray)
        batches = map(self._read, steps) if in_memory else ahead(self._read, steps)
        for batch in batches:
            yield Batch(
                *(tensor.to(device, non_blocking=True) for tensor in (batch.inputs, batch.labels, batch.places))
            )

    def _read(self, places: Rows) -> Batch:
        # Channels last: makes convolutions on a CPU up to 1.5 times as fast.
        pixels = self.images.pixels[places].transpose(0, 2, 3, 1)
        parts = (pixels, self.images.labels[places], places)
        return Batch(*(torch.from_numpy(np.ascontiguousarray(part)) for part in parts))

    def _scaled(self, pixels: Tensor) -> Tensor:
        mean, deviation = (
            pixels.new_tensor(values, dtype=torch.float32) for values in (self.scale.mean, self.scale.deviation)
        )
        return pixels.float().sub_(255 * mean).div_(255 * deviation).permute(0, 3, 1, 2)


def steps_of(order: Rows, batch_size: int) -> list[Rows]:
    """Split places into batches of nearly equal size, at most `batch_size` each.

    Equal sizes matter: batch normalisation fails on a last batch of one image, which has no variance.

    Examples
    --------
    >>> [len(step) for step in steps_of(np.arange(10), 4)]
    [4, 3, 3]
    """
    return np.array_split(order, -(-len(order) // batch_size))


def ahead(read: Callable[[Rows], Batch], steps: Iterable[Rows], depth: int = 2) -> Iterator[Batch]:
    """Yield the batch of each step while another thread reads the next ones."""
    waiting: deque[Future[Batch]] = deque()
    with ThreadPoolExecutor(1) as pool:
        for places in steps:
            context = contextvars.copy_context()  # carries the number of threads to the other thread
            waiting.append(pool.submit(context.run, read, places))
            if len(waiting) > depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
