"""Norm of each example's gradient with respect to all weights of a network: the GraNd score of Paul et al. 2021."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from leanset._arrays import Vector
from leanset._progress import Advance
from leanset.training.batches import Batches, steps_of
from leanset.training.outputs import as_used, logits_of

# How many numbers the gradients of one batch may have. On a CPU a small batch stays in the caches: with ResNet-18, a batch
# of 24 takes three times as long as batches of 4. A GPU needs large batches.
_GRADIENT_NUMBERS = {"cpu": 2**25}
_GRADIENT_NUMBERS_ELSEWHERE = 2**28


def gradient_norms(
    model: nn.Module,
    data: Batches,
    device: torch.device,
    *,
    batch_size: int | None = None,
    advance: Advance = lambda share: None,
) -> Vector:
    """Return ‖∇ loss_i‖₂ over all weights for every example. Normalisation layers use their running statistics.

    Parameters
    ----------
    model, data, device : the network, its inputs, and its device
    batch_size : number of gradients held in memory at a time; None chooses by the size of the network, at most 64
    advance : called with the share that is done
    """
    weights = {name: weight.detach() for name, weight in model.named_parameters() if weight.requires_grad}
    fixed = {
        name: value.detach()
        for name, value in (*model.named_parameters(), *model.named_buffers())
        if name not in weights
    }

    def loss(weights: dict[str, Tensor], image: Tensor, label: Tensor) -> Tensor:
        logits = logits_of(functional_call(model, (weights, fixed), (image[None],)))
        return cross_entropy(logits, label[None])

    def norm(image: Tensor, label: Tensor) -> Tensor:
        parts = grad(loss)(weights, image, label)
        return torch.stack([part.square().sum() for part in parts.values()]).sum().sqrt()

    if batch_size is None:
        room = _GRADIENT_NUMBERS.get(device.type, _GRADIENT_NUMBERS_ELSEWHERE)
        batch_size = max(1, min(64, room // max(1, sum(weight.numel() for weight in weights.values()))))
    each = vmap(norm, randomness="different")
    norms = np.empty(len(data))
    with as_used(model):
        done = 0
        for batch in data.plain(steps_of(np.arange(len(data)), batch_size), device):
            norms[batch.places.cpu().numpy()] = each(batch.inputs, batch.labels).cpu().double().numpy()
            done += len(batch.labels)
            advance(done / len(data))
    return norms
