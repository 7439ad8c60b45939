"""Which weights learn how: groups of weights with their own top rates.

Every group has a `top_rate`, which the loop multiplies by the recipe's curve.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from leanset.training.recipe import Recipe

_ROUNDS = 3
_POLYNOMIAL = (3.4445, -4.7750, 2.0315)  # a·s + b·s³ + c·s⁵ drives singular values s in (0, 1] towards one; Jordan 2024


def optimizers_for(model: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Return the optimisers of a network: SGD for all weights or, with Muon, all but the filters of convolutions."""
    top, decay, factor = recipe.top_rate, recipe.weight_decay, recipe.bias_lr_factor
    biases = _own(model, "bias", nn.modules.batchnorm._BatchNorm) if factor != 1 else []
    filters = _own(model, "weight", nn.Conv2d) if recipe.muon_lr else []
    elsewhere = {id(weights) for weights in (*biases, *filters)}
    groups = [
        {"params": [weights for weights in model.parameters() if id(weights) not in elsewhere], "top_rate": top},
        {"params": biases, "top_rate": factor * top, "weight_decay": decay / factor},
    ]
    sgd = torch.optim.SGD(
        [group for group in groups if group["params"]],
        lr=top,
        momentum=recipe.momentum,
        nesterov=recipe.nesterov,
        weight_decay=decay,
    )
    return [sgd, Muon(filters, recipe.muon_lr, recipe.momentum)] if filters else [sgd]


def set_rates(optimizers: Iterable[torch.optim.Optimizer], share: float) -> None:
    """Set the learning rate of every group to a share of its top."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["top_rate"] * share


def _own(model: nn.Module, name: str, kind: type[nn.Module]) -> list[nn.Parameter]:
    """Return the learnable parameters of one name in all layers of one kind."""
    found = [getattr(module, name) for module in model.modules() if isinstance(module, kind)]
    return [weights for weights in found if weights is not None and weights.requires_grad]


class Muon(torch.optim.Optimizer):
    """Steps of about equal size in all directions that a gradient has, for the filters of convolutions.

    A filter bank is a matrix with a row for each filter. Its gradient, smoothed by Nesterov momentum, is replaced by
    nearly the nearest orthogonal matrix (Jordan et al. 2024, kellerjordan.github.io/posts/muon). There is no weight decay:
    the norm of a bank is kept, since a normalisation layer that follows does not see it.

    Parameters
    ----------
    filters : the weights of convolutions
    lr : highest rate
    momentum : as in SGD
    """

    def __init__(self, filters: list[nn.Parameter], lr: float, momentum: float) -> None:
        super().__init__([{"params": filters, "top_rate": lr}], {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Take one step."""
        if closure is not None:
            closure()
        for group in self.param_groups:
            for weights in group["params"]:
                if weights.grad is not None:
                    self._move(weights, weights.grad, group["lr"], group["momentum"])

    def _move(self, weights: Tensor, gradient: Tensor, lr: float, momentum: float) -> None:
        state = self.state[weights]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        speed = state["momentum_buffer"].mul_(momentum).add_(gradient)
        direction = orthogonalised(gradient.add(speed, alpha=momentum).flatten(1))
        weights.mul_(len(weights) ** 0.5 / weights.norm())
        weights.add_(direction.view(weights.shape), alpha=-lr)


def orthogonalised(matrix: Tensor, rounds: int = _ROUNDS) -> Tensor:
    """Return a matrix with the same singular vectors and singular values near one, by matrix products only.

    Examples
    --------
    >>> values = torch.linalg.svdvals(orthogonalised(torch.diag(torch.tensor([3.0, 1.0])), rounds=5))
    >>> bool(((values > 0.6) & (values < 1.3)).all())
    True
    """
    wide = matrix.shape[0] <= matrix.shape[1]
    x: Tensor = (matrix if wide else matrix.T) / (torch.linalg.matrix_norm(matrix) + 1e-7)
    a, b, c = _POLYNOMIAL
    for _ in range(rounds):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x if wide else x.T
