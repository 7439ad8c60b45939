from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from leanset._arrays import AnyArray, Matrix, Rows
from leanset._errors import InputError
from leanset._progress import Advance
from leanset.head.locate import find_head
from leanset.training.batches import Batches, steps_of
from leanset.training.loop import predicted


@dataclass(frozen=True)
class Captured:
    """What went into a head and what came out of it, example by example."""

    features: AnyArray  # (n, d) float32
    logits: AnyArray  # (n, C) float32
    labels: Rows


def capture_head(
    model: nn.Module,
    data: Batches,
    device: torch.device,
    *,
    head: str | None = None,
    batch_size: int = 256,
    store: Path | None = None,
    prefix: str = "",
    advance: Advance = lambda share: None,
) -> Captured:
    """Show all examples to a network, without augmentation, and keep the inputs and outputs of its head.

    Parameters
    ----------
    model, data, device : the network, its inputs, and where it lives
    head : name of the head; the last linear layer if None
    store : folder to write the arrays to, batch by batch; in memory if None
    prefix : of the file names there
    advance : told of progress
    """
    name, layer = find_head(model, head)
    new = _in_folder(store, prefix) if store is not None else _in_memory
    features = new("features", (len(data), layer.in_features))
    logits = new("logits", (len(data), layer.out_features))
    labels = np.zeros(len(data), dtype=np.int64)
    seen: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    try:
        done = 0
        for batch, answer in predicted(model, data.plain(steps_of(np.arange(len(data)), batch_size), device)):
            if done == 0:
                _check_is_head(name, layer, seen, answer)
            places = batch.places.cpu().numpy()
            features[places] = seen.pop().float().cpu().numpy()
            logits[places] = answer.cpu().numpy()
            labels[places] = batch.labels.cpu().numpy()
            done += len(places)
            advance(done / len(data))
    finally:
        hook.remove()
    return Captured(features, logits, labels)


def weights_of(layer: nn.Linear) -> Matrix:
    """Return a linear layer as a (C, d+1) head, bias last (zero if the layer has none)."""
    weight = layer.weight.detach().double().cpu().numpy()
    bias = np.zeros(len(weight)) if layer.bias is None else layer.bias.detach().double().cpu().numpy()
    return np.column_stack((weight, bias))


def _check_is_head(name: str, layer: nn.Linear, seen: list[Tensor], answer: Tensor) -> None:
    if len(seen) != 1:
        raise InputError(
            f"the layer `{name}` runs {len(seen)} times in one pass of the network; a head runs once. Name it with `head=`."
        )
    if seen[0].ndim != 2:
        raise InputError(
            f"the layer `{name}` sees inputs of shape {tuple(seen[0].shape)}; a head sees one vector an example. Name it with "
            "`head=`."
        )
    own = layer(seen[0]).float()
    if own.shape != answer.shape or not torch.allclose(own, answer, rtol=1e-2, atol=1e-2):
        raise InputError(
            f"what the layer `{name}` puts out is not what the network returns, so it is not the head, or something follows "
            "it. Name the head with `head=`, and let the network return logits."
        )


def _in_memory(name: str, shape: tuple[int, int]) -> AnyArray:
    return np.empty(shape, dtype=np.float32)


def _in_folder(store: Path, prefix: str) -> Callable[[str, tuple[int, int]], AnyArray]:
    store.mkdir(parents=True, exist_ok=True)

    def new(name: str, shape: tuple[int, int]) -> AnyArray:
        path = (store / f"{prefix}{name}.npy").resolve()
        array: AnyArray = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        return array

    return new
