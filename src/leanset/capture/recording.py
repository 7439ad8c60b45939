from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from leanset._arrays import AnyArray, Matrix, Rows
from leanset._files import reserve
from leanset._folder import explained
from leanset._progress import Advance
from leanset.capture.forward import Forward
from leanset.capture.locate import find_head
from leanset.data import Features, array_digest
from leanset.rows import StoreWriter, ZarrRows, engine, has_rows, read_array, write_rows
from leanset.training import Batches


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

    Passes that are computed by a cluster (`computed_by`) say that this is done by its workers, too: each gets portions of
    the examples, and writes its own chunks of a store. Portions are the same here and there, and so are the batches in them.

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
    forward, cluster, done = Forward(model, name, device, widths, batch_size), engine(), into.done
    portions = _cut(np.arange(done, len(data)), into.step or forward.portion)
    if cluster is None:
        for places, labels, parts in forward.over(data, portions):
            into.put(places, labels, parts)
            done += len(places)
            advance(done / len(data))
        return into.captured()
    work = into.on_worker(_Recording(forward, data.shared()))
    cuts = ((portion, *data.cut(portion)) for portion in portions)
    for portion, found in zip(portions, cluster.each(work, cuts), strict=True):
        if found is not None:
            into.put(portion, *found)
        done += len(portion)
        advance(done / len(data))
    return into.captured()


def _cut(rows: Rows, step: int) -> list[Rows]:
    return [rows[start : start + step] for start in range(0, len(rows), step)]


Portion = tuple[Rows, "Batches | None", Rows]  # places, the data for them if it is not shared, and the places in it


@dataclass(frozen=True)
class _Recording:
    """Records a portion on a worker and sends it to the client."""

    forward: Forward
    shared: Batches | None

    def __call__(self, portion: Portion) -> tuple[Rows, dict[str, AnyArray]]:
        _, own, inside = portion
        data = self.shared if own is None else own
        assert data is not None  # one of the two is there
        return self.forward.on_worker(data, inside)


@dataclass(frozen=True)
class _Writing:
    """Records a portion on a worker, which is a chunk of a store, and writes it there, unless it is there already."""

    record: _Recording
    store: str
    prefix: str

    def __call__(self, portion: Portion) -> None:
        first, last = int(portion[0][0]), int(portion[0][-1])
        names = (*self.record.forward.widths, "labels")
        if not has_rows(self.store, [f"{self.prefix}{name}" for name in names], slice(first, last + 1)):
            labels, parts = self.record(portion)
            named = {f"{self.prefix}{name}": part for name, part in (parts | {"labels": labels}).items()}
            write_rows(self.store, first, **named)


class _Arrays:
    """Arrays in memory, or in the npy files of a folder."""

    done, step = 0, None

    def __init__(self, folder: Path | None, prefix: str, rows: int, widths: dict[str, int]) -> None:
        new = _in_folder(folder, prefix) if folder is not None else _in_memory
        self.arrays = {name: new(name, (rows, width)) for name, width in widths.items()}
        self.labels: Rows = np.zeros(rows, dtype=np.int64)

    def put(self, places: Rows, labels: Rows, parts: dict[str, AnyArray]) -> None:
        for name, part in parts.items():
            self.arrays[name][places] = part
        self.labels[places] = labels

    def on_worker(self, record: _Recording) -> _Recording:
        return record

    def captured(self) -> Captured:
        return Captured(self.arrays["features"], self.arrays.get("logits"), self.labels)


class _Store:
    """A Zarr store, written in the order of the rows, or chunk by chunk by workers."""

    def __init__(self, place: str, prefix: str, rows: int, widths: dict[str, int], identity: str) -> None:
        self.prefix = prefix
        columns: dict[str, tuple[tuple[int, ...], Any]] = {
            f"{prefix}{name}": ((width,), np.float32) for name, width in widths.items()
        }
        self.writer = StoreWriter.at(place, rows, columns | {f"{prefix}labels": ((), np.int64)}, identity)
        self.done, self.step = self.writer.done, self.writer.step

    def put(self, places: Rows, labels: Rows, parts: dict[str, AnyArray]) -> None:
        named = {f"{self.prefix}{name}": part for name, part in parts.items()}
        self.writer.write(**named, **{f"{self.prefix}labels": labels})

    def on_worker(self, record: _Recording) -> _Writing:
        return _Writing(record, self.writer.store, self.prefix)

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
