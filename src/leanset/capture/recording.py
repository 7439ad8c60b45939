from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from leanset._arrays import AnyArray, Matrix, Rows
from leanset._errors import InputError
from leanset._files import reserve
from leanset._progress import Advance
from leanset.capture.locate import find_head, listed_layers
from leanset.runs import explained
from leanset.training import Batches, predicted, steps_of


@dataclass(frozen=True)
class Captured:
    """Inputs and outputs of a head for each example."""

    features: AnyArray  # (n, d) float32
    logits: AnyArray | None  # (n, C) float32
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
    with_logits: bool = True,
    advance: Advance = lambda share: None,
) -> Captured:
    """Run a network over all examples, without augmentation, and record the inputs and outputs of its head.

    Parameters
    ----------
    model, data, device : the network, its inputs, and its device
    head : name of the head; the last linear layer if None
    store : folder to write the arrays to, batch by batch; in memory if None
    prefix : of the file names
    with_logits : record the outputs too, not only the inputs
    advance : called with the completed share
    """
    name, layer = find_head(model, head)
    new = _in_folder(store, prefix) if store is not None else _in_memory
    features = new("features", (len(data), layer.in_features))
    logits = new("logits", (len(data), layer.out_features)) if with_logits else None
    labels = np.zeros(len(data), dtype=np.int64)
    seen: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    try:
        done = 0
        for batch, answer in predicted(model, data.plain(steps_of(np.arange(len(data)), batch_size), device)):
            if done == 0:
                _check_is_head(model, name, layer, seen, answer)
            places = batch.places.cpu().numpy()
            features[places] = seen.pop().float().cpu().numpy()
            if logits is not None:
                logits[places] = answer.cpu().numpy()
            labels[places] = batch.labels.cpu().numpy()
            done += len(places)
            advance(done / len(data))
    finally:
        hook.remove()
    return Captured(features, logits, labels)


def as_two_classes(logits: AnyArray, head: Matrix, weight_decay: float | None) -> tuple[AnyArray, Matrix, float | None]:
    """Return a head with one logit z, the log-odds of class 1, as the same head of two classes with logits −z/2 and z/2.

    Its weights have half the squared norm, so twice the weight decay penalises them as much.

    Examples
    --------
    >>> logits, head, decay = as_two_classes(np.array([[2.0]]), np.array([[4.0, 1.0]]), 0.1)
    >>> logits.tolist(), head.tolist(), decay
    ([[-1.0, 1.0]], [[-2.0, -0.5], [2.0, 0.5]], 0.2)
    """
    halves = np.array([-0.5, 0.5])
    decay = None if weight_decay is None else 2 * weight_decay
    return logits * halves.astype(logits.dtype), halves[:, None] * head, decay


def weights_of(layer: nn.Linear) -> Matrix:
    """Return a linear layer as a (C, d+1) head, bias last (zero if the layer has none)."""
    weight = layer.weight.detach().cpu().double().numpy()
    bias = np.zeros(len(weight)) if layer.bias is None else layer.bias.detach().cpu().double().numpy()
    return np.column_stack((weight, bias))


def _check_is_head(model: nn.Module, name: str, layer: nn.Linear, seen: list[Tensor], answer: Tensor) -> None:
    wrong = None
    if len(seen) != 1:
        wrong = f"runs {len(seen)} times in one pass of the network; a head runs once"
    elif seen[0].ndim != 2:
        wrong = f"gets inputs of shape {tuple(seen[0].shape)}; a head gets one vector per example"
    elif layer.out_features != answer.shape[1] or not torch.allclose(
        layer(seen[0]).float(), answer, rtol=1e-2, atol=1e-2
    ):
        wrong = "has outputs that differ from those of the network: it is not the head, or another step follows it"
    if wrong:
        raise InputError(
            f"the layer `{name}` {wrong}. The network must return logits; give its head with `head=`. Its linear layers: "
            f"{listed_layers(model)}."
        )


def _in_memory(name: str, shape: tuple[int, int]) -> AnyArray:
    return np.empty(shape, dtype=np.float32)


def _in_folder(store: Path, prefix: str) -> Callable[[str, tuple[int, int]], AnyArray]:
    def new(name: str, shape: tuple[int, int]) -> AnyArray:
        path = (store / f"{prefix}{name}.npy").resolve()
        path.unlink(missing_ok=True)  # existing memory maps of the old file stay valid
        with explained(path, "write"):
            array: AnyArray = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
            reserve(path)
        return array

    return new
