import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from leanset.data import Dynamics

Epoch = dict[str, NDArray[np.float32]]


class Recorder:
    """Records what the network says about each example during training, in a few small tensor operations per step.

    Parameters
    ----------
    examples : number of examples
    device : the device of the logits
    """

    def __init__(self, examples: int, device: torch.device) -> None:
        self._notes = torch.full((4, examples), torch.nan, device=device)

    def note(self, logits: Tensor, labels: Tensor, places: Tensor) -> None:
        """Record one batch: logits (k, C) before the update, labels (k,), and places (k,) in the data."""
        logits = logits.detach().float()
        own = logits.gather(1, labels[:, None])[:, 0]
        other = logits.scatter(1, labels[:, None], -torch.inf).amax(dim=1)
        probability = torch.softmax(logits, dim=1)
        mine = probability.gather(1, labels[:, None])[:, 0]
        error = (probability.square().sum(dim=1) - 2 * mine + 1).clamp_min(0).sqrt()  # ‖p − y‖ without building y
        self._notes[:, places] = torch.stack(((own > other).float(), mine, own - other, error))

    @property
    def notes(self) -> Tensor:
        """The (4, n) record of the epoch so far; NaN for examples not seen yet."""
        return self._notes

    def next_epoch(self, notes: Tensor | None = None) -> Epoch:
        """Return the record of the epoch and start a new one.

        Parameters
        ----------
        notes : the joined notes of all processes, if there are several
        """
        page = (self._notes if notes is None else notes).cpu().numpy()
        self._notes = torch.full_like(self._notes, torch.nan)
        return dict(zip(Dynamics.names(), page, strict=True))


def joined(epochs: list[Epoch]) -> Dynamics:
    """Join the records of several epochs."""
    table = {name: np.stack([epoch[name] for epoch in epochs]) for name in Dynamics.names()}
    return Dynamics(np.nan_to_num(table.pop("correct")) > 0, **table)
