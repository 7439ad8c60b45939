import contextlib
from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn

from leanset._errors import InputError
from leanset.training.devices import torch_threads


@contextlib.contextmanager
def as_used(model: nn.Module) -> Iterator[None]:
    """Put a network into evaluation mode, with leanset's number of threads. Restores its mode afterwards."""
    was_training = model.training
    model.eval()
    try:
        with torch_threads():
            yield
    finally:
        model.train(was_training)


def logits_of(output: Any) -> Tensor:
    """Return the logits in the output of a network: a tensor, or an object, dict or tuple that holds them.

    Examples
    --------
    >>> import torch
    >>> logits_of({"loss": torch.tensor(0.0), "logits": torch.zeros(2, 3)}).shape
    torch.Size([2, 3])
    >>> logits_of(torch.zeros(2)).shape  # one logit for each example: yes or no
    torch.Size([2, 1])
    """
    found = output
    if isinstance(output, dict):
        found = output.get("logits")
    elif hasattr(output, "logits"):
        found = output.logits
    elif isinstance(output, tuple | list) and output:
        found = output[0]
    if isinstance(found, Tensor) and found.ndim == 1:
        found = found[:, None]
    if not isinstance(found, Tensor) or found.ndim != 2:
        seen = tuple(found.shape) if isinstance(found, Tensor) else type(output).__name__
        raise InputError(f"the network must return (batch, classes) logits, alone or as `.logits`; got {seen}.")
    return found
