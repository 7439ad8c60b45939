from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from leanset._arrays import AnyArray, Matrix, Rows
from leanset._errors import InputError
from leanset._files import reserve
from leanset._progress import Advance
from leanset.capture.locate import find_head, listed_layers
from leanset.data import Features, array_digest
from leanset.rows import StoreWriter, ZarrRows, read_array
from leanset.runs import explained
from leanset.training import Batches, predicted, steps_of


@dataclass(frozen=True)
class Captured:
    """Inputs and outputs of a head for each example."""

    features: Features  # (n, d) float32
    logits: Features | None  # (n, C) float32
    labels: Rows


def capture_head(
    model: nn.Module,
    data: Batches,
    device: torch.device,
    *,
    head: str | None = None,
    batch_size: int = 256,
    store: "Path | str | None" = None,
    prefix: str = "",
    with_logits: bool = True,
    identity: str = "",
    advance: Advance = lambda share: None,
) -> Captured:
    """Run a network over all examples, without augmentation, and record the inputs and outputs of its head.

    Parameters
    ----------
    model, data, device : the network, its inputs, and its device
    head : name of the head; the last linear layer if None
    store : folder to write the arrays to, batch by batch; a text is the place of a Zarr store, in which a capture that was
        stopped goes on where it was; in memory if None
    prefix : of the file names
    with_logits : record the outputs too, not only the inputs
    identity : of the network and the data, by which a store knows them again
    advance : called with the completed share
    """
    name, layer = find_head(model, head)
    widths = {"features": layer.in_features} | ({"logits": layer.out_features} if with_logits else {})
    into: _Arrays | _Store
    into = (
        _Store(store, prefix, len(data), widths, identity)
        if isinstance(store, str)
        else _Arrays(store, prefix, len(data), widths)
    )
    left = np.arange(into.done, len(data))
    seen: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    try:
        done = into.done
        for batch, answer in predicted(model, data.plain(steps_of(left, batch_size) if len(left) else [], device)):
            if done == into.begun:
                _check_is_head(model, name, layer, seen, answer)
            places = batch.places.cpu().numpy()
            parts = {"features": seen.pop().float().cpu().numpy(), "logits": answer.cpu().numpy()}
            into.put(places, batch.labels.cpu().numpy(), {key: parts[key] for key in widths})
            done += len(places)
            advance(done / len(data))
    finally:
        hook.remove()
    return into.captured()


class _Arrays:
    """Arrays in memory, or in the npy files of a folder."""

    begun = done = 0

    def __init__(self, folder: Path | None, prefix: str, rows: int, widths: dict[str, int]) -> None:
        new = _in_folder(folder, prefix) if folder is not None else _in_memory
        self.arrays = {name: new(name, (rows, width)) for name, width in widths.items()}
        self.labels: Rows = np.zeros(rows, dtype=np.int64)

    def put(self, places: Rows, labels: Rows, parts: dict[str, AnyArray]) -> None:
        for name, part in parts.items():
            self.arrays[name][places] = part
        self.labels[places] = labels

    def captured(self) -> Captured:
        return Captured(self.arrays["features"], self.arrays.get("logits"), self.labels)


class _Store:
    """A Zarr store, written in the order of the rows."""

    def __init__(self, place: str, prefix: str, rows: int, widths: dict[str, int], identity: str) -> None:
        self.prefix = prefix
        columns: dict[str, tuple[tuple[int, ...], Any]] = {
            f"{prefix}{name}": ((width,), np.float32) for name, width in widths.items()
        }
        self.writer = StoreWriter.at(place, rows, columns | {f"{prefix}labels": ((), np.int64)}, identity)
        self.begun = self.done = self.writer.done

    def put(self, places: Rows, labels: Rows, parts: dict[str, AnyArray]) -> None:
        named = {f"{self.prefix}{name}": part for name, part in parts.items()}
        self.writer.write(**named, **{f"{self.prefix}labels": labels})

    def captured(self) -> Captured:
        place, names = self.writer.store, list(self.writer.names)
        tables = {name.removeprefix(self.prefix): ZarrRows.of(place, name) for name in names if "labels" not in name}
        labels = read_array(place, f"{self.prefix}labels", slice(0, None))
        return Captured(tables["features"], tables.get("logits"), labels)


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


def digest_of(model: nn.Module) -> str:
    """Return a digest of all weights of a network."""
    arrays = [value.detach().cpu().float().numpy() for value in model.state_dict().values()]
    return array_digest(*(array.reshape(-1) for array in arrays))


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
