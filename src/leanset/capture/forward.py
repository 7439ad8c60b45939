"""A network that is run over examples while the inputs of its head are recorded: here, or by the workers of a cluster."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from leanset._arrays import AnyArray, Rows
from leanset._errors import InputError
from leanset.capture.locate import find_head, listed_layers
from leanset.training import Batches, predicted, steps_of

Recorded = tuple[Rows, Rows, dict[str, AnyArray]]  # places of a batch, its labels, and what was recorded
_AT_ONCE = 4096  # examples of a portion, about

_alone = threading.Lock()  # a worker may have several threads, but it has one copy of a network, and torch has its own


@dataclass(frozen=True)
class Forward:
    """A network, and how it is run.

    Attributes
    ----------
    model, head, device : the network, the name of its head, and its device
    widths : numbers that are recorded for each example: "features" and, if wanted, "logits"
    batch_size : examples at a time
    threads : of torch, so that every worker rounds as this process does
    """

    model: nn.Module
    head: str
    device: torch.device
    widths: dict[str, int]
    batch_size: int
    threads: int = field(default_factory=torch.get_num_threads)

    @property
    def portion(self) -> int:
        """Examples of a portion: whole batches."""
        return self.batch_size * max(1, _AT_ONCE // self.batch_size)

    def over(self, data: Batches, portions: list[Rows]) -> Iterator[Recorded]:
        """Yield what is recorded, batch by batch; no batch has examples of two portions."""
        layer, seen = find_head(self.model, self.head)[1], list[Tensor]()
        steps = [step for portion in portions for step in steps_of(portion, self.batch_size)]
        hook = layer.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
        try:
            for nth, (batch, answer) in enumerate(predicted(self.model, data.plain(steps, self.device))):
                if nth == 0:
                    self._check_is_head(layer, seen, answer)
                parts = {"features": seen.pop().float().cpu().numpy(), "logits": answer.cpu().numpy()}
                labels = batch.labels.cpu().numpy()
                yield batch.places.cpu().numpy(), labels, {name: parts[name] for name in self.widths}
        finally:
            hook.remove()

    def on_worker(self, data: Batches, places: Rows) -> tuple[Rows, dict[str, AnyArray]]:
        """Return the labels of one portion, and what is recorded of it."""
        with _alone:
            before = torch.get_num_threads()
            torch.set_num_threads(self.threads)
            try:
                found = list(self.over(data, [places]))
            finally:
                torch.set_num_threads(before)
        parts = {name: np.concatenate([part[name] for _, _, part in found]) for name in self.widths}
        return np.concatenate([labels for _, labels, _ in found]), parts

    def _check_is_head(self, layer: nn.Linear, seen: list[Tensor], answer: Tensor) -> None:
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
                f"the layer `{self.head}` {wrong}. The network must return logits; give its head with `head=`. Its linear "
                f"layers: {listed_layers(self.model)}."
            )
