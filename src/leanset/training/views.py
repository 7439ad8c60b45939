"""Copies of an image whose logits are averaged when a network is tested."""

from collections.abc import Iterator

from torch import Tensor, nn
from torch.nn.functional import pad

from leanset._errors import InputError
from leanset.training.outputs import logits_of

NO_COPIES = "none"
COPIES = (NO_COPIES, "mirrored", "mirrored-shifted")


def mean_logits(model: nn.Module, inputs: Tensor, copies: str = NO_COPIES) -> Tensor:
    """Return the logits of images, averaged over copies of each of them.

    Parameters
    ----------
    model : the network
    inputs : (k, channels, height, width) for copies, of any shape without
    copies : "none"; "mirrored" for the image and its mirror image; "mirrored-shifted" for these, with half of the weight,
        and the same two shifted by one pixel up and left, and down and right, with a quarter each (after Jordan 2024)

    Examples
    --------
    >>> import torch
    >>> first_pixel = nn.Sequential(nn.Flatten(), nn.Linear(4, 1, bias=False))
    >>> _ = first_pixel[1].weight.data.copy_(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> [mean_logits(first_pixel, image, copies).item() for copies in ("none", "mirrored")]
    [1.0, 1.5]
    """
    if copies not in COPIES:
        raise InputError(f"`copies={copies!r}` must be {' or '.join(map(repr, COPIES))}.")
    if copies == NO_COPIES:
        return logits_of(model(inputs)).float()
    parts = [
        weight / 2 * (logits_of(model(view)).float() + logits_of(model(view.flip(3))).float())
        for weight, view in _views(inputs, shifted=copies == "mirrored-shifted")
    ]
    total: Tensor = sum(parts[1:], start=parts[0])
    return total


def _views(inputs: Tensor, *, shifted: bool) -> Iterator[tuple[float, Tensor]]:
    if not shifted:
        yield 1.0, inputs
        return
    height, width = inputs.shape[2:]
    padded = pad(inputs, (1, 1, 1, 1), mode="reflect")
    yield 0.5, inputs
    for corner in (0, 2):
        yield 0.25, padded[:, :, corner : corner + height, corner : corner + width]
