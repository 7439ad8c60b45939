from typing import Any

from torch import Tensor

from leanset._errors import InputError


def logits_of(output: Any) -> Tensor:
    """Return the logits from what a network returns: a tensor, or an object, dict or tuple that holds them.

    Examples
    --------
    >>> import torch
    >>> logits_of({"loss": torch.tensor(0.0), "logits": torch.zeros(2, 3)}).shape
    torch.Size([2, 3])
    """
    found = output
    if isinstance(output, dict):
        found = output.get("logits")
    elif hasattr(output, "logits"):
        found = output.logits
    elif isinstance(output, tuple | list) and output:
        found = output[0]
    if not isinstance(found, Tensor) or found.ndim != 2:
        seen = tuple(found.shape) if isinstance(found, Tensor) else type(output).__name__
        raise InputError(f"the network must return (batch, classes) logits, alone or as `.logits`; got {seen}.")
    return found
