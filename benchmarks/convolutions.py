"""How much less time a training step takes with leanset's 3×3 convolutions than with torch's own.

One step is a forward and a backward pass over a batch of random images of 32 × 32 pixels, in float32 on one thread. The two
kinds take turns, step by step; seconds are those of the processor, the median over repetitions. Errors are ‖g − g₆₄‖/‖g₆₄‖ for
the gradients g of all weights and those in float64, g₆₄. In deep networks both are far above the rounding of one layer, because
activations near zero change sides.
"""

import contextlib
import copy
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from benchmarks._record import Findings, Request, Row, at_least, at_most
from leanset._threads import thread_count
from leanset.training import FastConvolutions, build_model, channels_last, torch_threads

SEED = 0
BATCHES = {
    "quick": 256,
    "quick-wide": 256,
    "convnet-3-128-relu-instance-average": 256,
    "resnet18": 128,
}
GOALS = {"quick": 1.1, "quick-wide": 1.3, "resnet18": 1.5}  # times less


def run(request: Request) -> Findings:
    names = ("quick",) if request.small else tuple(BATCHES)
    with thread_count(1), torch_threads():
        rows = [_row(name, 16 if request.small else BATCHES[name], 1 if request.small else 5) for name in names]
    claims = [
        at_least(f"{row['network']}: times less for a step", row["times_less"], GOALS[row["network"]])
        for row in rows
        if row["network"] in GOALS
    ]
    worst = at_most("error, times torch's", max(row["times_the_error"] for row in rows), 2)
    return Findings(rows, [SEED], [*claims, worst])


def _row(name: str, batch: int, repetitions: int) -> Row:
    torch.manual_seed(SEED)
    model = channels_last(build_model(name, 10, channels=3, image_size=32))
    images = torch.randn(batch, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(10, (batch,))
    kinds: dict[str, Callable[[], contextlib.AbstractContextManager[object]]] = {
        "torch": contextlib.nullcontext,
        "leanset": FastConvolutions,
    }
    gradients = {kind: _step(model, images, labels, inside) for kind, inside in kinds.items()}  # also compiles
    exact = _step(copy.deepcopy(model).double(), images.double(), labels, contextlib.nullcontext)
    errors = {kind: float((found - exact).norm() / exact.norm()) for kind, found in gradients.items()}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(repetitions):
        for kind, inside in kinds.items():
            began = time.process_time()
            _step(model, images, labels, inside)
            seconds[kind].append(time.process_time() - began)
    usual, fast = np.median(seconds["torch"]), np.median(seconds["leanset"])
    return {
        "network": name,
        "batch": batch,
        "torch_seconds": float(usual),
        "leanset_seconds": float(fast),
        "times_less": float(usual / fast),
        "torch_error": errors["torch"],
        "leanset_error": errors["leanset"],
        "times_the_error": errors["leanset"] / errors["torch"],
    }


def _step(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    inside: Callable[[], contextlib.AbstractContextManager[object]],
) -> Tensor:
    """Return the gradients of all weights."""
    model.zero_grad()
    with inside():
        cross_entropy(model(images), labels).backward()
    return torch.cat([weights.grad.flatten() for weights in model.parameters() if weights.grad is not None])
