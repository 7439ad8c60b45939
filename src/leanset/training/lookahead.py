from typing import Any

import torch
from torch import Tensor, nn

_EVERY = 5  # steps between two returns to the mean


class Lookahead:
    """A running mean of a network's weights, to which the weights return every few steps.

    Returning to a mean is Lookahead (Zhang et al. 2019). That the mean forgets fast at first and slowly at the end is
    from airbench (Jordan 2024): of the mean, d⁵·(t/T)³ is left in place, with d the `decay`, t the step of the last return
    and T the number of steps. So the first return leaves the weights as they are, however short the training.

    Parameters
    ----------
    model : the network; the statistics of its normalisation layers are averaged too
    decay : share of the mean that one step leaves in place, at the end of the training
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._model, self._decay = model, decay
        self._mean: dict[str, Tensor] = {}
        self._last = 0

    @torch.no_grad()
    def after_step(self, step: int, steps: int) -> None:
        """Return to the mean if it is time, and always after the last step. Steps are counted from 1."""
        if step % _EVERY and step != steps:
            return
        left = self._decay ** (step - self._last) * (self._last / steps) ** 3
        for name, weights in self._model.state_dict().items():
            if weights.is_floating_point():
                mean = self._mean.setdefault(name, weights.clone())
                mean.lerp_(weights, 1 - left)
                weights.copy_(mean)
        self._last = step

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed training needs."""
        return {"mean": self._mean, "last": self._last}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state."""
        weights = self._model.state_dict()
        self._mean = {name: mean.to(weights[name].device) for name, mean in state_dict["mean"].items()}
        self._last = state_dict["last"]
