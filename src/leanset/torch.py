"""leanset for torch networks: `import leanset.torch as lt`."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import Rows, Vector
from leanset._errors import InputError, missing_extra

try:
    import torch
    from torch import nn
    from torch.utils.data import DataLoader
except ImportError:
    raise missing_extra("leanset.torch", "torch") from None

from leanset import training as trainer
from leanset._progress import reporter_for
from leanset.capture import Captured, as_two_classes, capture_head, digest_of, find_head, weights_of
from leanset.data import Images, array_digest
from leanset.evaluate import compare
from leanset.head import STORE, HeadStatistics, store_in
from leanset.result import PruneResult
from leanset.rows import computed_by, dask_cluster, finish_store, is_url, place_of
from leanset.training import (
    MODELS,
    PRESETS,
    DatasetBatches,
    NetworkFolder,
    Recipe,
    Training,
    build_model,
    fabric_for,
    is_normalised,
    preset,
)

__all__ = [
    "MODELS",
    "PRESETS",
    "HeadStatistics",
    "Images",
    "Recipe",
    "Training",
    "build_model",
    "capture",
    "compare",
    "find_head",
    "gradient_norms",
    "lean_loader",
    "preset",
    "train",
]

_OF_A_LOADER = (  # arguments that a loader has as attributes, apart from those about the order
    *("batch_size", "num_workers", "collate_fn", "pin_memory", "drop_last", "timeout", "worker_init_fn", "generator"),
    *("multiprocessing_context", "prefetch_factor", "persistent_workers"),
)


def capture(
    model: nn.Module,
    dataset: Any,
    *,
    head: str | None = None,
    validation: Any = None,
    weight_decay: float | None = None,
    classes: tuple[str, ...] | None = None,
    batch_size: int = 256,
    workers: int = 0,
    out: str | os.PathLike[str] | None = None,
    dask: Any = None,
    progress: bool | None = None,
) -> HeadStatistics:
    """Run a network over a data set and record what `leanset.prune` needs: its head's inputs, outputs and weights.

    A head with one logit, for yes or no, is recorded as the same head of two classes, 0 and 1. Its weights count half
    there, so l2 is twice the weight decay; halve the `train_l2` of a result again to train with one logit.

    Parameters
    ----------
    model : any network that returns the logits of its last linear layer; its device and mode do not change
    dataset : map-style, items (input, label) or dicts, without augmentation
    head : name of the last linear layer, as in `model.named_modules()`; located automatically if None
    validation : held-out data set
    weight_decay : of the network's training; becomes the l2 of the head (1e-4 if None)
    classes : class names; numbers if None
    batch_size, workers : how the data set is read
    out : folder to stream the statistics to; open it again with `HeadStatistics.load`. If it ends with .zarr, it is a chunked
        store with checksums (`leanset[zarr]`), on disk or behind a URL, and a capture that was stopped goes on where it was
    dask : let the workers of a Dask cluster run the network: the address of a scheduler, "local:4" for four workers on this
        machine, or a client. They get the network and the data set; each writes its own chunks of a store
    progress : show a progress bar; None shows it if stderr is a terminal

    Examples
    --------
    >>> import torch, leanset, leanset.torch as lt
    >>> from torch.utils.data import TensorDataset
    >>> _ = torch.manual_seed(0)
    >>> labels = torch.arange(120) % 3
    >>> data = TensorDataset(torch.randn(120, 4) + labels[:, None], labels)
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> stats = lt.capture(model, data)
    >>> result = leanset.prune(stats, fraction=0.4, frontier=False)
    >>> len(result.subset(data))
    72
    """
    name, layer = find_head(model, head)
    names = _class_names(classes, max(2, layer.out_features))
    data, held_out = (
        DatasetBatches(dataset, workers),
        None if validation is None else DatasetBatches(validation, workers),
    )
    chunked = out is not None and os.fspath(out).endswith(STORE)
    if out is not None and is_url(os.fspath(out)) and not chunked:
        raise InputError(
            f"`out={os.fspath(out)!r}`: behind a URL there can only be a store; let its name end with {STORE}."
        )
    if chunked and layer.out_features == 1:
        raise InputError("`out`: a store has no head with one logit; give a folder whose name does not end with .zarr.")
    store: Path | str | None = None
    if out is not None:  # after all cheap checks: a folder's existing content becomes invalid
        store = place_of(out) if chunked else store_in(out)
    identity = f"{digest_of(model)} {name} {len(data)}" if chunked else ""

    def shown(batches: DatasetBatches, title: str, **options: Any) -> Captured:
        with reporter.stage(title, units=len(batches), unit="examples") as advance:
            return capture_head(
                model,
                batches,
                _device(model),
                head=name,
                batch_size=batch_size,
                store=store,
                identity=identity,
                advance=advance,
                **options,
            )

    with reporter_for(progress) as reporter, dask_cluster(dask) as cluster, computed_by(cluster):
        seen, other = shown(data, "Capturing the head"), None
        if held_out is not None:
            other = shown(held_out, "Capturing the held-out examples", prefix="val_", with_logits=False)
    logits, weights = seen.logits, weights_of(layer)
    if isinstance(store, str):
        about = {"classes": list(names), "head": weights.tolist(), "weight_decay": weight_decay}
        finish_store(store, **about)
        return HeadStatistics.load(store)
    if layer.out_features == 1 and isinstance(logits, np.ndarray):
        logits, weights, weight_decay = as_two_classes(logits, weights, weight_decay)
    stats = HeadStatistics(
        features=seen.features,
        labels=seen.labels,
        classes=names,
        logits=logits,
        head=weights,
        weight_decay=weight_decay,
        validation=None if other is None else (other.features, other.labels),
    )
    if store is not None:
        stats.save(store)
    return stats


def lean_loader(loader: "DataLoader[Any]", result: PruneResult, *, seed: int = 0) -> "DataLoader[Any]":
    """Return a loader like a given one, over the kept rows only, each drawn as often as its weight says.

    In a Lightning DataModule: `return lt.lean_loader(super().train_dataloader(), result)`.

    Parameters
    ----------
    loader : over the data set that was pruned, in batches of a fixed size; its order is replaced
    result : of the run
    seed : of the order

    Examples
    --------
    >>> import torch, leanset, leanset.torch as lt
    >>> from torch.utils.data import DataLoader, TensorDataset
    >>> labels = torch.arange(80) % 2
    >>> data = TensorDataset(torch.randn(80, 3, generator=torch.manual_seed(0)) + labels[:, None], labels)
    >>> result = leanset.prune(*data.tensors, keep=40, frontier=False)
    >>> len(lt.lean_loader(DataLoader(data, batch_size=10, shuffle=True), result))
    4
    """
    if loader.batch_size is None:
        raise InputError(
            "`loader` has no batch size, so it has a batch sampler of its own; give that `result.sampler(...)`."
        )
    options = {name: getattr(loader, name) for name in _OF_A_LOADER}
    return DataLoader(loader.dataset, sampler=result.sampler(loader.dataset, seed=seed), **options)


def train(
    model: nn.Module,
    dataset: Any,
    *,
    recipe: Recipe | str = "fast",
    seed: int = 0,
    rows: Any = None,
    weights: Any = None,
    record: bool = True,
    device: str = "auto",
    devices: int = 1,
    workers: int = 0,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
) -> Training:
    """Train a network in place on a data set, and record what happens to each example.

    The data set does its own augmentation; the recipe's crops and flips apply only to `leanset prune` and `leanset train`.

    Parameters
    ----------
    model, dataset : the network and its map-style data
    recipe : a `Recipe` or the name of a preset
    seed : of the order of the examples
    rows : row numbers to train on, e.g. `result.kept`; all if None
    weights : of the losses of these rows, in the same order, e.g. `result.weights`; equal ones if None. Only their ratios
        count: the mean loss is that of weights with mean one
    record : record dynamics, for `stats.with_evidence(dynamics=[training.dynamics])`
    device, devices : "auto", "cpu", "cuda" or "mps", and how many of them (more than one only from a script, not a notebook)
    workers : processes that read the data
    out : folder to save checkpoints in and to resume from; a finished training with the same start is loaded
    overwrite : replace another training in `out`
    progress : show a progress bar; None shows it if stderr is a terminal

    Examples
    --------
    >>> import torch, leanset.torch as lt
    >>> from torch.utils.data import TensorDataset
    >>> _ = torch.manual_seed(0)
    >>> labels = torch.arange(120) % 2
    >>> data = TensorDataset(torch.randn(120, 4) + 3 * labels[:, None], labels)
    >>> training = lt.train(torch.nn.Linear(4, 2), data, recipe=lt.Recipe(epochs=5, lr=0.1, batch_size=8), device="cpu")
    >>> training.history[-1].accuracy > 0.9, training.dynamics.epochs
    (True, 5)
    """
    chosen = preset(recipe, normalised=is_normalised(model)) if isinstance(recipe, str) else recipe
    data = DatasetBatches(dataset, workers)
    places = None if rows is None else np.asarray(rows, dtype=np.int64)
    if places is not None and (len(places) == 0 or places.min() < 0 or places.max() >= len(data)):
        raise InputError(f"`rows` must be row numbers in 0..{len(data) - 1}, at least one.")
    given = None if weights is None else np.asarray(weights, dtype=np.float64)
    if given is not None:
        trainer.check_weights(given, np.arange(len(data)) if places is None else places)
    folder = None if out is None else NetworkFolder(out)
    fabric = fabric_for(device, devices)
    if folder is not None:
        if fabric.local_rank == 0:  # before other processes are launched, and in none of them
            identity = _training_identity(model, chosen, seed, places, len(data)) | {"record": record}
            identity |= {} if given is None else {"weights": array_digest(given)}
            folder.open(identity, replace=overwrite)
        if folder.is_finished:
            dynamics, history = folder.load(model)
            return Training(fabric.to_device(model), history, dynamics)
    if devices > 1:
        fabric.launch()
    with reporter_for(progress) as reporter:
        training = trainer.train(
            model,
            data,
            chosen,
            fabric,
            seed=seed,
            places=places,
            weights=given,
            record=record,
            folder=folder,
            reporter=reporter,
        )
    if folder is not None and fabric.is_global_zero:
        folder.finish(model, training.history, training.dynamics, {"weight_decay": chosen.weight_decay})
    return training


def gradient_norms(
    model: nn.Module, dataset: Any, *, batch_size: int | None = None, workers: int = 0, progress: bool | None = None
) -> Vector:
    """Return the norm of every example's gradient over all weights of a network, for the GraNd score.

    Parameters
    ----------
    model, dataset : the network, ideally as it was early in its training, and its map-style data without augmentation
    batch_size : gradients in memory at one time; if None, chosen by the size of the network, at most 64
    workers : processes that read the data
    progress : show a progress bar; None shows it if stderr is a terminal

    Examples
    --------
    >>> import torch, leanset.torch as lt
    >>> from torch.utils.data import TensorDataset
    >>> data = TensorDataset(torch.zeros(3, 4), torch.tensor([0, 1, 0]))
    >>> lt.gradient_norms(torch.nn.Linear(4, 2), data).shape
    (3,)
    """
    data = DatasetBatches(dataset, workers)
    with (
        reporter_for(progress) as reporter,
        reporter.stage("Gradient of every example", units=len(data), unit="examples") as advance,
    ):
        return trainer.gradient_norms(model, data, _device(model), batch_size=batch_size, advance=advance)


def _training_identity(
    model: nn.Module, recipe: Recipe, seed: int, places: Rows | None, examples: int
) -> dict[str, Any]:
    """Return what a training depends on, except the content of the data set, which would have to be read completely."""
    start = hashlib.sha256()
    for name, weights in model.state_dict().items():
        start.update(
            name.encode() + weights.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        )
    return {
        "recipe": recipe.to_dict(),
        "seed": seed,
        "rows": None if places is None else array_digest(places),
        "examples": examples,
        "start": start.hexdigest(),
    }


def _device(model: nn.Module) -> torch.device:
    return next((weights.device for weights in model.parameters()), torch.device("cpu"))


def _class_names(classes: tuple[str, ...] | None, outputs: int) -> tuple[str, ...]:
    if classes is None:
        return tuple(map(str, range(outputs)))
    if len(classes) != outputs:
        raise InputError(f"`classes` names {len(classes)} classes, but the head has {outputs} outputs.")
    return tuple(classes)
