"""leanset for people with a torch network: `import leanset.torch as lt`."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import Vector
from leanset._errors import InputError, missing_extra

try:
    import torch
    from torch import nn
except ImportError:
    raise missing_extra("leanset.torch", "torch") from None

from leanset._progress import reporter_for
from leanset.head.capture import Captured, capture_head, weights_of
from leanset.head.locate import find_head
from leanset.head.statistics import HeadStatistics
from leanset.training import gradients, loop
from leanset.training.datasets import DatasetBatches
from leanset.training.devices import fabric_for
from leanset.training.folder import NetworkFolder
from leanset.training.models import MODELS, build_model
from leanset.training.recipe import PRESETS, Recipe, preset

__all__ = [
    "MODELS",
    "PRESETS",
    "HeadStatistics",
    "Recipe",
    "Training",
    "build_model",
    "capture",
    "find_head",
    "gradient_norms",
    "preset",
    "train",
]
Training = loop.Training


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
    progress: bool | None = None,
) -> HeadStatistics:
    """Show a data set to a network and keep what `leanset.prune` needs of its head.

    Parameters
    ----------
    model : any network that returns logits from a last linear layer; stays on its device and in its mode
    dataset : map-style, items (input, label) or dicts; give it without augmentation
    head : name of the last linear layer, as in `model.named_modules()`; found if None
    validation : held-out data set
    weight_decay : that the network was trained with; becomes the l2 of the head's problem (1e-4 if None)
    classes : class names; numbers if None
    batch_size, workers : how the data set is read
    out : folder to stream the statistics to, for sets larger than memory; open it again with `HeadStatistics.load`
    progress : show a bar; None shows it if a person is watching

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
    store = None if out is None else Path(out)

    def shown(data: Any, prefix: str, title: str) -> Captured:
        batches = DatasetBatches(data, workers)
        with reporter.stage(title, units=len(batches), unit="examples") as advance:
            return capture_head(
                model,
                batches,
                _device(model),
                head=name,
                batch_size=batch_size,
                store=store,
                prefix=prefix,
                advance=advance,
            )

    with reporter_for(progress) as reporter:
        seen = shown(dataset, "", "Capturing the head")
        other = None if validation is None else shown(validation, "val_", "Capturing the held-out examples")
    stats = HeadStatistics(
        features=seen.features,
        labels=seen.labels,
        classes=_class_names(classes, layer.out_features),
        logits=seen.logits,
        head=weights_of(layer),
        weight_decay=weight_decay,
        validation=None if other is None else (other.features, other.labels),
    )
    if store is not None:
        stats.save(store)
    return stats


def train(
    model: nn.Module,
    dataset: Any,
    *,
    recipe: Recipe | str = "fast",
    seed: int = 0,
    rows: Any = None,
    record: bool = True,
    device: str = "auto",
    workers: int = 0,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Training:
    """Train a network on a data set in place, and record what happens to each example.

    Augmentation is the data set's own affair; the recipe's crops and flips apply to `leanset prune` and `leanset train`.

    Parameters
    ----------
    model, dataset : the network and its map-style data
    recipe : a `Recipe` or the name of a preset
    seed : of the order
    rows : row numbers to train on, e.g. `result.kept`; all if None
    record : record dynamics, for `stats.with_evidence(dynamics=[training.dynamics])`
    device : "auto", "cpu", "cuda" or "mps"
    workers : processes that read the data
    out : folder for checkpoints, and to resume from
    progress : show a bar; None shows it if a person is watching

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
    chosen = preset(recipe) if isinstance(recipe, str) else recipe
    data = DatasetBatches(dataset, workers)
    places = None if rows is None else np.asarray(rows, dtype=np.int64)
    if places is not None and (len(places) == 0 or places.min() < 0 or places.max() >= len(data)):
        raise InputError(f"`rows` must be row numbers in 0..{len(data) - 1}, at least one.")
    folder = None if out is None else NetworkFolder(out)
    if folder is not None:
        subset = None if places is None else places.tolist()
        folder.open({"recipe": chosen.to_dict(), "seed": seed, "rows": subset, "examples": len(data)})
    with reporter_for(progress) as reporter:
        training = loop.train(
            model,
            data,
            chosen,
            fabric_for(device),
            seed=seed,
            places=places,
            record=record,
            folder=folder,
            reporter=reporter,
        )
    if folder is not None:
        folder.finish(model, training.history, training.dynamics, {})
    return training


def gradient_norms(
    model: nn.Module, dataset: Any, *, batch_size: int = 64, workers: int = 0, progress: bool | None = None
) -> Vector:
    """Return the norm of every example's gradient over all weights of a network, for the GraNd score.

    Parameters
    ----------
    model, dataset : the network, best as it was early in its training, and its map-style data without augmentation
    batch_size : examples whose gradients are held at one time
    workers : processes that read the data
    progress : show a bar; None shows it if a person is watching

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
        return gradients.gradient_norms(model, data, _device(model), batch_size=batch_size, advance=advance)


def _device(model: nn.Module) -> torch.device:
    return next((weights.device for weights in model.parameters()), torch.device("cpu"))


def _class_names(classes: tuple[str, ...] | None, outputs: int) -> tuple[str, ...]:
    if classes is None:
        return tuple(map(str, range(outputs)))
    if len(classes) != outputs:
        raise InputError(f"`classes` names {len(classes)} classes, but the head has {outputs} outputs.")
    return tuple(classes)
