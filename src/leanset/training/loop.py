"""One plain training loop.

The order of the examples in epoch k and their augmentation depend only on the seed and k. So an interrupted run
continues from its last finished epoch and ends with the same network as an uninterrupted one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from leanset._arrays import Rows
from leanset._errors import DivergenceError
from leanset._progress import Advance, Reporter, Silent, part_of
from leanset._rng import stream
from leanset.data import Dynamics
from leanset.training.batches import Batch, Batches, steps_of
from leanset.training.devices import channels_last, torch_threads
from leanset.training.folder import NetworkFolder
from leanset.training.history import EpochLog
from leanset.training.outputs import as_used, logits_of
from leanset.training.recipe import Recipe
from leanset.training.recorder import Epoch, Recorder, joined


@dataclass(frozen=True)
class Training:
    """A trained network (on its device), its history, and its dynamics if they were recorded."""

    model: nn.Module
    history: tuple[EpochLog, ...]
    dynamics: Dynamics | None


def train(
    model: nn.Module,
    data: Batches,
    recipe: Recipe,
    fabric: Fabric,
    *,
    seed: int = 0,
    places: Rows | None = None,
    record: bool = True,
    folder: NetworkFolder | None = None,
    reporter: Reporter | None = None,
) -> Training:
    """Train a network in place.

    Parameters
    ----------
    model : the network; training starts from its current weights
    data : its inputs
    recipe : learning rate, epochs, augmentation and so on
    fabric : the devices to train on, from `fabric_for`
    seed : fixes the order of the examples and their augmentation
    places : row numbers of the examples to train on; None for all
    record : record the dynamics of each example
    folder : where to save a checkpoint after each epoch; training continues from one that is already there
    reporter : shows progress
    """
    places = np.arange(len(data)) if places is None else places
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=recipe.lr,
        momentum=recipe.momentum,
        nesterov=recipe.nesterov,
        weight_decay=recipe.weight_decay,
    )
    wrapped, optimizer = fabric.setup(channels_last(model), optimizer)
    recorder = Recorder(len(data), fabric.device) if record else None
    pages: list[Epoch] = []
    history: list[EpochLog] = []
    precision = fabric.strategy.precision
    if folder is not None:
        history, pages = folder.resume(model, optimizer, precision)
    run = _Run(wrapped, optimizer, data, recipe, fabric, seed, places, recorder)
    watcher = reporter if reporter is not None and fabric.is_global_zero else Silent()
    title = f"Training on {len(places):,} examples"
    with (
        torch_threads(fabric.world_size),
        watcher.stage(title, units=recipe.epochs * len(places), unit="images") as advance,
    ):
        for epoch in range(len(history), recipe.epochs):
            history.append(run.epoch(epoch, part_of(advance, epoch, recipe.epochs)))
            if recorder is not None:
                pages.append(recorder.next_epoch(_together(fabric, recorder.notes)))
            if folder is not None and fabric.is_global_zero:
                if epoch + 1 == recipe.early_epoch:
                    folder.keep_early(model)
                folder.keep_epoch(model, optimizer, precision, history, pages)
    return Training(model, tuple(history), joined(pages) if pages else None)


@dataclass
class _Run:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    data: Batches
    recipe: Recipe
    fabric: Fabric
    seed: int
    places: Rows
    recorder: Recorder | None

    def epoch(self, epoch: int, advance: Advance) -> EpochLog:
        """Train on every example once."""
        self.model.train()
        rng = stream(self.seed, "epoch", epoch)
        steps = steps_of(rng.permutation(self.places), self.recipe.batch_size)
        mine = [np.array_split(step, self.fabric.world_size)[self.fabric.global_rank] for step in steps]
        total = torch.zeros(3, device=self.fabric.device)
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**31)))  # for dropout and the like
            seeds = rng.integers(
                2**31, size=self.fabric.world_size
            )  # for the augmentation, a different one in each process
            batches = self.data.training(mine, self.recipe, self.fabric.device, int(seeds[self.fabric.global_rank]))
            for nth, batch in enumerate(batches):
                self._set_rate(self.recipe.rate_at(epoch * len(steps) + nth + 1, self.recipe.epochs * len(steps)))
                total += self._step(batch)
                advance((nth + 1) / len(steps))
        loss, correct, seen = _summed(self.fabric, total).tolist()
        if not np.isfinite(loss):
            raise DivergenceError(
                f"training diverged in epoch {epoch + 1}: the loss is {loss}. Lower the learning rate, `lr={self.recipe.lr:g}`."
            )
        return EpochLog(epoch + 1, loss / seen, correct / seen)

    def _step(self, batch: Batch) -> Tensor:
        logits = logits_of(self.model(batch.inputs))
        loss = cross_entropy(logits, batch.labels, label_smoothing=self.recipe.label_smoothing)
        self.optimizer.zero_grad()
        self.fabric.backward(loss)
        self.optimizer.step()
        if self.recorder is not None:
            self.recorder.note(logits, batch.labels, batch.places)
        size = len(batch.labels)
        correct = (logits.detach().argmax(dim=1) == batch.labels).sum()
        return torch.stack((loss.detach() * size, correct, correct.new_tensor(size)))

    def _set_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate


def _summed(fabric: Fabric, values: Tensor) -> Tensor:
    return fabric.all_reduce(values, reduce_op="sum") if fabric.world_size > 1 else values  # type: ignore[return-value]


def _together(fabric: Fabric, notes: Tensor) -> Tensor:
    """Join the notes of all processes. Each example was seen by exactly one of them."""
    if fabric.world_size == 1:
        return notes
    seen = _summed(fabric, (~notes.isnan()).float())
    return torch.where(seen > 0, _summed(fabric, notes.nan_to_num()), torch.nan)


def predicted(model: nn.Module, batches: Iterator[Batch]) -> Iterator[tuple[Batch, Tensor]]:
    """Yield each batch with the network's logits, in evaluation mode."""
    with as_used(model), torch.inference_mode():
        for batch in batches:
            yield batch, logits_of(model(batch.inputs)).float()


@dataclass(frozen=True)
class Quality:
    """Accuracy and mean cross-entropy of a network on labelled images."""

    accuracy: float
    loss: float


def quality(model: nn.Module, data: Batches, device: torch.device, batch_size: int = 256) -> Quality:
    """Measure a network on data, in evaluation mode."""
    steps = steps_of(np.arange(len(data)), batch_size)
    correct, loss = 0, 0.0
    for batch, logits in predicted(model, data.plain(steps, device)):
        correct += int((logits.argmax(dim=1) == batch.labels).sum())
        loss += float(cross_entropy(logits, batch.labels, reduction="sum"))
    return Quality(correct / len(data), loss / len(data))
