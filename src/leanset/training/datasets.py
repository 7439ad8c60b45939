from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from leanset._arrays import Mask, Rows
from leanset._errors import InputError
from leanset.training.batches import Batch
from leanset.training.recipe import Recipe

_INPUTS = ("pixel_values", "image", "images", "img", "inputs", "input", "x")
_LABELS = ("label", "labels", "fine_label", "target", "targets", "y")


class DatasetBatches:
    """Batches from any map-style torch data set. Augmentation is left to the data set.

    Parameters
    ----------
    dataset : items are (input, label) or dicts with such entries
    workers : processes that load items; 0 loads them in this process
    """

    def __init__(self, dataset: Any, workers: int = 0) -> None:
        if not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")):
            raise InputError(
                f"`dataset` must be map-style, with `__len__` and `__getitem__`; got {type(dataset).__name__}."
            )
        if len(dataset) == 0:
            raise InputError("`dataset` is empty.")
        self.dataset, self.workers = dataset, workers

    def __len__(self) -> int:
        return len(self.dataset)

    def training(
        self,
        steps: Iterable[Rows],
        recipe: Recipe,
        device: torch.device,
        seed: int,
        mirrored: Mask | None = None,
    ) -> Iterator[Batch]:
        """Yield one batch for each array of places. The seed fixes the random numbers of the workers."""
        return self._batches(steps, device, torch.Generator().manual_seed(seed))

    def plain(self, steps: Iterable[Rows], device: torch.device) -> Iterator[Batch]:
        """Yield one batch for each array of places."""
        return self._batches(steps, device, None)

    def shared(self) -> "DatasetBatches":
        """Return the data set, which reads its own items wherever it is."""
        return self

    def cut(self, places: Rows) -> tuple[None, Rows]:
        """Return the places; the data set is shared."""
        return None, places

    def _batches(
        self, steps: Iterable[Rows], device: torch.device, generator: torch.Generator | None
    ) -> Iterator[Batch]:
        planned = [step.tolist() for step in steps]
        loader: DataLoader[Any] = DataLoader(
            self.dataset, batch_sampler=planned, num_workers=self.workers, generator=generator
        )
        try:
            for places, item in zip(planned, loader, strict=True):
                inputs, labels = _parts(item)
                if inputs.dtype == torch.uint8:
                    raise InputError(
                        "the inputs of `dataset` are bytes (uint8), which a network cannot take; scale them in a transform as "
                        "for its training, e.g. `image / 255`. A Hugging Face dataset with a `model=` needs no transform."
                    )
                yield Batch(inputs.to(device), _codes(labels).to(device), torch.tensor(places, device=device))
        except TypeError as error:
            if "default_collate" not in str(error):
                raise
            reason = str(error).splitlines()[0]
            raise InputError(
                f"the items of `dataset` cannot be put into a batch; transform them to tensors: {reason}"
            ) from None


def _parts(item: Any) -> tuple[Tensor, Tensor]:
    if isinstance(item, Mapping):
        inputs = next((item[key] for key in _INPUTS if key in item), None)
        labels = next((item[key] for key in _LABELS if key in item), None)
        if isinstance(inputs, Tensor) and isinstance(labels, Tensor):
            return inputs, labels
        raise InputError(
            f"the items of `dataset` have {', '.join(map(repr, item))}; leanset looks for an input under {', '.join(_INPUTS)} "
            f"and a label under {', '.join(_LABELS)}."
        )
    if (
        isinstance(item, tuple | list)
        and len(item) >= 2
        and isinstance(item[0], Tensor)
        and isinstance(item[1], Tensor)
    ):
        return item[0], item[1]
    raise InputError(f"the items of `dataset` must be (input, label) pairs or dicts; got {type(item).__name__}.")


def _codes(labels: Tensor) -> Tensor:
    """Return labels as whole numbers; those of a network with one logit are often numbers 0.0 and 1.0, or a column."""
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    whole = not labels.is_complex() and bool((labels == labels.long()).all())
    if labels.ndim != 1 or not whole:
        raise InputError(
            f"labels must be one integer per item; got a batch of {labels.dtype} with shape {tuple(labels.shape)}."
        )
    return labels.long()
