"""How good a network is on labelled images.

A network that has learnt from examples that are not like the others may be right more often and yet too sure of itself. One
number that divides all logits, the temperature, mends that (Guo et al. 2017, "On Calibration of Modern Neural Networks"). So
the loss is measured with and without it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from leanset.training.batches import Batch, Batches, steps_of
from leanset.training.outputs import as_used
from leanset.training.views import NO_COPIES, mean_logits

_HIGHEST_TEMPERATURE = 100.0  # and the lowest is its inverse
SAME_LOSS = 0.005  # a difference that is not worth a word


@dataclass(frozen=True)
class Quality:
    """Accuracy and mean cross-entropy of a network on labelled images.

    Attributes
    ----------
    accuracy, loss : as the network answers
    scaled_loss : the loss if one number divides all logits, which either half of the images gets from the other
    temperature : that number, got from all of the images; above 1 the network is too sure of itself, below 1 not sure enough
    """

    accuracy: float
    loss: float
    scaled_loss: float
    temperature: float

    @property
    def worth_scaling(self) -> bool:
        """Whether that number makes the loss clearly lower."""
        return self.scaled_loss < self.loss - SAME_LOSS


def quality(
    model: nn.Module, data: Batches, device: torch.device, batch_size: int = 256, *, copies: str = NO_COPIES
) -> Quality:
    """Measure a network on data, in evaluation mode.

    Parameters
    ----------
    model, data, device : the network, its inputs, and its device
    batch_size : examples at a time
    copies : of each image, over which logits are averaged: "none", "mirrored" or "mirrored-shifted"
    """
    steps = steps_of(np.arange(len(data)), batch_size)
    parts = [
        (logits.cpu(), batch.labels.cpu()) for batch, logits in predicted(model, data.plain(steps, device), copies)
    ]
    logits, labels = (torch.cat(part) for part in zip(*parts, strict=True))
    accuracy = float((logits.argmax(dim=1) == labels).double().mean())
    return Quality(accuracy, _loss(logits, labels), scaled_loss(logits, labels), best_temperature(logits, labels))


def predicted(model: nn.Module, batches: Iterator[Batch], copies: str = NO_COPIES) -> Iterator[tuple[Batch, Tensor]]:
    """Yield each batch with the network's logits, in evaluation mode; `copies` as in `mean_logits`."""
    with as_used(model), torch.inference_mode():
        for batch in batches:
            yield batch, mean_logits(model, batch.inputs, copies)


def scaled_loss(logits: Tensor, labels: Tensor) -> float:
    """Return the mean cross-entropy of logits that are divided by the number that is best for the other half of the rows.

    Examples
    --------
    >>> logits, labels = torch.tensor([[9.0, 0.0]] * 4 + [[0.0, 9.0]] * 4), torch.tensor([0, 0, 0, 0, 1, 1, 0, 0])
    >>> round(_loss(logits, labels), 2), round(scaled_loss(logits, labels), 2)  # sure, and wrong in a quarter
    (2.25, 0.58)
    """
    if len(labels) < 2 or not torch.isfinite(logits).all():
        return _loss(logits, labels)
    even, odd = ((logits[first::2], labels[first::2]) for first in (0, 1))
    pairs = ((even, odd), (odd, even))
    return sum(len(mine[1]) * _loss(mine[0] / best_temperature(*other), mine[1]) for mine, other in pairs) / len(labels)


def best_temperature(logits: Tensor, labels: Tensor) -> float:
    """Return the number that logits are best divided by; NaN if they are not finite.

    If every answer were right, the best number would be 0, and the next wrong answer would cost without end. So with n rows and
    K classes a label counts n + 1 of n + K parts and each other class one, as in Platt 1999, "Probabilistic outputs for support
    vector machines". With many rows that changes nothing.

    Examples
    --------
    >>> logits, labels = torch.tensor([[9.0, 0.0]] * 4), torch.tensor([0, 0, 0, 1])
    >>> round(best_temperature(logits, labels), 2)  # 3 + 1 of 4 + 2 are right, so the best logits are log(2) apart
    12.98
    """
    if not torch.isfinite(logits).all():
        return math.nan
    logits, farthest = logits.double(), math.log(_HIGHEST_TEMPERATURE)
    rows, classes = logits.shape

    def loss(log_temperature: float) -> float:  # convex in 1/temperature, so one minimum is the only one
        return _loss(logits / math.exp(log_temperature), labels, others=classes / (rows + classes))

    return math.exp(minimize_scalar(loss, bounds=(-farthest, farthest), method="bounded").x)


def _loss(logits: Tensor, labels: Tensor, others: float = 0.0) -> float:
    """Return the mean cross-entropy, where `others` of each label are spread evenly over all classes."""
    return float(cross_entropy(logits.double(), labels, label_smoothing=others))
