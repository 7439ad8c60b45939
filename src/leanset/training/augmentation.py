"""Random crops and mirror images, for a whole batch in a few tensor operations."""

import torch
from torch import Tensor

from leanset._errors import InputError
from leanset.training.recipe import Recipe


def augmented(pixels: Tensor, recipe: Recipe, generator: torch.Generator, *, mirrored: Tensor | None = None) -> Tensor:
    """Return shifted and mirrored images.

    Parameters
    ----------
    pixels : (k, height, width, channels)
    recipe : its `crop`, `padding` and `flip`
    generator : must be on the device of the pixels
    mirrored : (k,) which images to mirror; if None, half of them at random, or none without `flip`
    """
    k, height, width, _ = pixels.shape
    down = torch.arange(height, device=pixels.device).expand(k, height)
    across = torch.arange(width, device=pixels.device).expand(k, width)
    if mirrored is None and recipe.flip:
        mirrored = torch.rand(k, generator=generator, device=pixels.device) < 0.5
    if mirrored is not None:
        across = torch.where(mirrored[:, None], across.flip(1), across)
    if recipe.crop:
        edge = recipe.crop
        shift = torch.randint(0, 2 * edge + 1, (2, k, 1), generator=generator, device=pixels.device)
        down, across = down + shift[0], across + shift[1]
        if recipe.padding == "reflect":
            down, across = _reflected(down - edge, height, edge), _reflected(across - edge, width, edge)
        else:
            pixels = torch.nn.functional.pad(pixels, (0, 0, edge, edge, edge, edge))
    which = torch.arange(k, device=pixels.device)
    return pixels[which[:, None, None], down[:, :, None], across[:, None, :]]


def _reflected(places: Tensor, length: int, edge: int) -> Tensor:
    """Return places beyond the edge as the places inside that a mirror on the edge's pixels shows there."""
    if edge >= length:
        raise InputError(f"`crop={edge}` must be smaller than the images, which have {length} pixels a side.")
    last = length - 1
    return last - (last - places.abs()).abs()
