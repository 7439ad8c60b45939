"""What the front end costs beside the network itself, on real CIFAR-10 images.

input: seconds to make an augmented batch of 128 against seconds of a whole ResNet-20 training step with it.
recording: seconds to note an example's dynamics against the same step.
capture: all images shown to ResNet-20 with features and logits kept, against the bare forward passes on batches that
lie ready; the two take turns, piece by piece.
GraNd: gradient norms of whole networks through torch.func against one backward pass an example; the two take turns.
All are ratios within one run, float32, all cores; the median over repetitions.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from benchmarks._data import cifar10
from benchmarks._record import Findings, Request, Row, at_least, at_most
from leanset.capture import capture_head
from leanset.data import Images
from leanset.training import (
    Batch,
    ImageBatches,
    Recorder,
    build_model,
    channels_last,
    gradient_norms,
    preset,
    steps_of,
    torch_threads,
)

CPU = torch.device("cpu")
SEED = 0
Result = TypeVar("Result")
NETWORKS = ("lenet", "resnet8", "resnet20", "resnet18")


def run(request: Request) -> Findings:
    images = cifar10(request)
    with torch_threads():
        steps = _step_row(images, 5 if request.small else 60)
        shown = _capture_row(images, 2 if request.small else 10)
        grand = [
            _grand_row(images, name, 8 if request.small else 64) for name in NETWORKS[: 2 if request.small else None]
        ]
    claims = [
        at_most("input pipeline as a share of a ResNet-20 step", steps["input_share"], 0.15),
        at_most("recording as a share of a ResNet-20 step", steps["recording_share"], 0.05),
        at_most("capture against bare forward passes", shown["ratio"], 1.2),
        at_least("GraNd against one backward an example, best network", max(row["ratio"] for row in grand), 10),
    ]
    return Findings([steps, shown, *grand], [SEED], claims)


def _model(name: str) -> nn.Module:
    torch.manual_seed(SEED)
    return channels_last(build_model(name, 10, image_size=32))


def _step_row(images: Images, repetitions: int) -> Row:
    data, model, recipe = ImageBatches(images), _model("resnet20").train(), preset("fast")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    recorder = Recorder(len(images), CPU)
    order = steps_of(np.random.default_rng(SEED).permutation(len(images)), recipe.batch_size)[: repetitions + 3]
    batches = data.training(order, recipe, CPU, SEED)
    inputs, computing, noting = [], [], []
    for _ in order:
        batch, seconds = _timed(lambda: next(batches))
        inputs.append(seconds)
        logits, seconds = _timed(lambda batch=batch: _stepped(model, optimizer, batch))
        computing.append(seconds)
        noting.append(_timed(lambda batch=batch, logits=logits: recorder.note(logits, batch.labels, batch.places))[1])
    made, computed, noted = (float(np.median(times[3:])) for times in (inputs, computing, noting))
    return {
        "part": "step",
        "batch_size": recipe.batch_size,
        "input_seconds": made,
        "network_seconds": computed,
        "recording_seconds": noted,
        "input_share": made / (made + computed + noted),
        "recording_share": noted / (made + computed + noted),
    }


def _stepped(model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch) -> torch.Tensor:
    logits: torch.Tensor = model(batch.inputs)
    optimizer.zero_grad()
    cross_entropy(logits, batch.labels).backward()
    optimizer.step()
    return logits


def _capture_row(images: Images, pieces: int) -> Row:
    model, kept, bare = _model("resnet20").eval(), 0.0, 0.0
    for rows in np.array_split(np.arange(len(images)), pieces):
        piece = Images(images.pixels[rows], images.labels[rows], images.classes, identity="a piece")
        data = ImageBatches(piece)
        ready = list(data.plain(steps_of(np.arange(len(piece)), 256), CPU))
        bare += _timed(lambda ready=ready: _shown(model, ready))[1]
        del ready
        kept += _timed(lambda data=data: capture_head(model, data, CPU))[1]
    return {
        "part": "capture",
        "images": len(images),
        "bare_seconds": bare,
        "capture_seconds": kept,
        "ratio": kept / bare,
    }


def _shown(model: nn.Module, batches: list[Batch]) -> None:
    with torch.inference_mode():
        for batch in batches:
            model(batch.inputs)


def _grand_row(images: Images, name: str, examples: int) -> Row:
    piece = Images(images.pixels[:examples], images.labels[:examples], images.classes, identity="a piece")
    data, model = ImageBatches(piece), _model(name).eval()
    times = []
    for _ in range(3):
        ours, together = _timed(lambda: gradient_norms(model, data, CPU))
        theirs, one_by_one = _timed(lambda: _one_backward_each(model, data))
        times.append((together, one_by_one))
    together, one_by_one = np.median(times, axis=0)
    return {
        "part": "GraNd",
        "network": name,
        "images": examples,
        "together_seconds": float(together),
        "one_by_one_seconds": float(one_by_one),
        "ratio": float(one_by_one / together),
        "largest_relative_difference": float(np.max(np.abs(ours / theirs - 1))),
    }


def _one_backward_each(model: nn.Module, data: ImageBatches) -> np.ndarray:
    norms = []
    for batch in data.plain([np.array([place]) for place in range(len(data))], CPU):
        model.zero_grad()
        cross_entropy(model(batch.inputs), batch.labels).backward()
        norms.append(sum(float(weight.grad.square().sum()) for weight in model.parameters()) ** 0.5)
    return np.array(norms)


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began
