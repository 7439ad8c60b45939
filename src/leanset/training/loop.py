"""One plain training loop.

The order of the examples in epoch k and their augmentation depend only on the seed and k. So an interrupted run
continues from its last finished epoch and ends with the same network as an uninterrupted one.
"""

from dataclasses import dataclass

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from leanset._arrays import Mask, Rows, Vector
from leanset._errors import DivergenceError, InputError
from leanset._progress import Advance, Reporter, Silent, part_of
from leanset._rng import stream
from leanset.data import Dynamics
from leanset.training.batches import Batch, Batches, steps_of
from leanset.training.convolutions import fast_convolutions
from leanset.training.devices import channels_last, torch_threads
from leanset.training.folder import NetworkFolder
from leanset.training.history import EpochLog
from leanset.training.lookahead import Lookahead
from leanset.training.models import whitening_layers
from leanset.training.optimizers import optimizers_for, set_rates
from leanset.training.outputs import logits_of
from leanset.training.precision import mixed_precision
from leanset.training.recipe import Recipe
from leanset.training.recorder import Epoch, Recorder, joined

_EXAMPLES_FOR_WHITENING = 5000
_WHITENING_BATCH = 500


@dataclass(frozen=True)
class Training:
    """A trained network (on its device), its history, and its dynamics if they were recorded.

    Examples
    --------
    >>> import leanset.torch as lt
    >>> data = torch.utils.data.TensorDataset(torch.eye(4), torch.tensor([0, 1, 0, 1]))
    >>> training = lt.train(nn.Linear(4, 2), data, recipe=lt.Recipe(epochs=2, lr=0.1))
    >>> len(training.history)
    2
    """

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
    weights: Vector | None = None,
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
    weights : of the losses of these examples, in the same order; None for equal ones. Only their ratios count
    record : record the dynamics of each example
    folder : where to save a checkpoint after each epoch; training continues from one that is already there
    reporter : shows progress
    """
    places = np.arange(len(data)) if places is None else places
    wrapped, *optimizers = fabric.setup(channels_last(model), *optimizers_for(model, recipe))
    lookahead = Lookahead(model, recipe.lookahead) if recipe.lookahead else None
    recorder = Recorder(len(data), fabric.device) if record else None
    pages: list[Epoch] = []
    history: list[EpochLog] = []
    parts = dict(zip(("optimizer", "muon"), optimizers, strict=False)) | {"precision": fabric.strategy.precision}
    if lookahead is not None:
        parts["lookahead"] = lookahead
    if folder is not None:
        history, pages = folder.resume(model, parts)
    loss_weights = None if weights is None else _mean_one(weights, places, len(data)).to(fabric.device)
    run = _Run(wrapped, optimizers, lookahead, data, recipe, fabric, seed, places, loss_weights, recorder)
    watcher = reporter if reporter is not None and fabric.is_global_zero else Silent()
    title = f"Training on {len(places):,} examples"
    with (
        torch_threads(fabric.world_size),
        fast_convolutions(model, fabric.device),
        watcher.stage(title, units=recipe.epochs * len(places), unit="images") as advance,
    ):
        _fit_whitening(model, data, places)
        for epoch in range(len(history), recipe.epochs):
            history.append(run.epoch(epoch, part_of(advance, epoch, recipe.epochs)))
            if recorder is not None:
                pages.append(recorder.next_epoch(_together(fabric, recorder.notes)))
            if folder is not None and fabric.is_global_zero:
                if epoch + 1 == recipe.early_epoch:
                    folder.keep_early(model)
                folder.keep_epoch(model, parts, history, pages)
    return Training(model, tuple(history), joined(pages) if pages else None)


def _fit_whitening(model: nn.Module, data: Batches, places: Rows) -> None:
    """Set the filters of `Whitening` layers from examples at even distances, unless a checkpoint has set them."""
    chosen = places[np.unique(np.linspace(0, len(places) - 1, _EXAMPLES_FOR_WHITENING).astype(np.int64))]
    for layer in whitening_layers(model):
        if not layer.is_fitted:
            with torch.random.fork_rng():  # a data set may use random numbers
                batches = data.plain(steps_of(chosen, _WHITENING_BATCH), torch.device("cpu"))
                layer.fit(batch.inputs for batch in batches)


@dataclass
class _Run:
    model: nn.Module
    optimizers: list[torch.optim.Optimizer]
    lookahead: Lookahead | None
    data: Batches
    recipe: Recipe
    fabric: Fabric
    seed: int
    places: Rows
    loss_weights: Tensor | None
    recorder: Recorder | None

    def epoch(self, epoch: int, advance: Advance) -> EpochLog:
        """Train on every example once."""
        self.model.train()
        self._freeze(epoch)
        rng = stream(self.seed, "epoch", epoch)
        steps = steps_of(rng.permutation(self.places), self.recipe.batch_size)
        mine = [np.array_split(step, self.fabric.world_size)[self.fabric.global_rank] for step in steps]
        total = torch.zeros(3, device=self.fabric.device)
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**31)))  # for dropout and the like
            seeds = rng.integers(
                2**31, size=self.fabric.world_size
            )  # for the augmentation, a different one in each process
            batches = self.data.training(
                mine, self.recipe, self.fabric.device, int(seeds[self.fabric.global_rank]), self._mirrored(epoch)
            )
            for nth, batch in enumerate(batches):
                done, all_steps = epoch * len(steps) + nth + 1, self.recipe.epochs * len(steps)
                set_rates(self.optimizers, self.recipe.share_at(done, all_steps))
                total += self._step(batch)
                if self.lookahead is not None:
                    self.lookahead.after_step(done, all_steps)
                advance((nth + 1) / len(steps))
        loss, correct, seen = _summed(self.fabric, total).tolist()
        if not np.isfinite(loss):
            raise DivergenceError(
                f"training diverged in epoch {epoch + 1}: the loss is {loss}. Lower the learning rate, `lr={self.recipe.lr:g}`."
            )
        return EpochLog(epoch + 1, loss / seen, correct / seen)

    def _step(self, batch: Batch) -> Tensor:
        with mixed_precision(self.recipe.precision, self.fabric):
            outputs = self.model(batch.inputs)
        logits = logits_of(outputs).float()
        loss = self._loss(logits, batch)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        self.fabric.backward(loss)
        for optimizer in self.optimizers:
            optimizer.step()
        if self.recorder is not None:
            self.recorder.note(logits, batch.labels, batch.places)
        size = len(batch.labels)
        correct = (logits.detach().argmax(dim=1) == batch.labels).sum()
        return torch.stack((loss.detach() * size, correct, correct.new_tensor(size)))

    def _loss(self, logits: Tensor, batch: Batch) -> Tensor:
        smoothing = self.recipe.label_smoothing
        if self.loss_weights is None:
            return cross_entropy(logits, batch.labels, label_smoothing=smoothing)
        each = cross_entropy(logits, batch.labels, label_smoothing=smoothing, reduction="none")
        return (self.loss_weights[batch.places] * each).mean()

    def _freeze(self, epoch: int) -> None:
        if self.fabric.world_size > 1:
            return  # several processes expect gradients for the same weights all the time
        for layer in whitening_layers(self.model):
            layer.learns_bias = self.recipe.learns_whitening_bias(epoch)

    def _mirrored(self, epoch: int) -> Mask | None:
        """Return which examples are mirrored: those that were not in the epoch before; None leaves it to chance."""
        if not (self.recipe.flip and self.recipe.alternating_flip):
            return None
        order = stream(self.seed, "mirrored").permutation(len(self.places))
        mirrored = np.zeros(len(self.data), dtype=bool)
        mirrored[self.places] = (order + epoch) % 2 == 0
        return mirrored


def check_weights(weights: Vector, places: Rows) -> None:
    """Raise if these cannot be the weights of the losses of the examples at `places`."""
    if weights.shape != places.shape or not (np.isfinite(weights).all() and weights.min() >= 0 < weights.max()):
        raise InputError(f"`weights` must be {len(places):,} finite numbers, not below 0 and not all 0.")
    if len(np.unique(places)) < len(places):
        raise InputError("`weights` are for rows that are named once; add up those of a row that is named more often.")


def _mean_one(weights: Vector, places: Rows, n: int) -> Tensor:
    """Return the weights of all `n` examples, 0 for those that are not trained on, with mean one over those that are."""
    check_weights(weights, places)
    spread = np.zeros(n, dtype=np.float32)
    spread[places] = weights / weights.mean()
    return torch.from_numpy(spread)


def _summed(fabric: Fabric, values: Tensor) -> Tensor:
    return fabric.all_reduce(values, reduce_op="sum") if fabric.world_size > 1 else values  # type: ignore[return-value]


def _together(fabric: Fabric, notes: Tensor) -> Tensor:
    """Join the notes of all processes. Each example was seen by exactly one of them."""
    if fabric.world_size == 1:
        return notes
    seen = _summed(fabric, (~notes.isnan()).float())
    return torch.where(seen > 0, _summed(fabric, notes.nan_to_num()), torch.nan)
