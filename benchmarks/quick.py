"""How well and how fast `quick` and `quick-wide` learn all of CIFAR-10 with their recipes, and what each ingredient adds.

50,000 images, tested on the 10,000 of the test batch after the last epoch: as they are, averaged with mirror images
(what the recipe does), and with shifted copies too. The first two trainings are as long as their targets of accuracy and
time ask for. Then `quick` is trained for three epochs, as it is and with one ingredient taken away or, with Muon, exchanged.
Seconds are those of the training alone, by the clock and of all cores together; PFLOP are those of convolutions and linear
layers (`leanset.training.training_pflop`). All trainings have the same seed.

Each finished training is a line of quick.jsonl beside the record. A training with the same network, recipe, seed and
images is not repeated, so that an interrupted benchmark goes on.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks._data import cifar10_folder, first_images
from benchmarks._record import Claim, Findings, Request, Row, at_least, at_most
from benchmarks._trainings import known_or
from leanset.capture import NetworkSettings
from leanset.data import Images, open_source
from leanset.report import load
from leanset.training import ImageBatches, Recipe, fabric_for, number_type, preset, quality, train, training_pflop
from leanset.training.models import Whitening

SEED = 0
SHORT = 3  # epochs
TARGETS = {"quick": (0.925, 720), "quick-wide": (0.94, 2400)}  # accuracy, seconds


def _learnt_first_layer(model: nn.Module) -> None:
    model.whitening = nn.Conv2d(model.whitening.in_channels, model.whitening.out_channels, 2)


def _random_filters(model: nn.Module) -> None:
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d) and not isinstance(layer, Whitening):
            layer.reset_parameters()


@dataclass(frozen=True)
class Variant:
    """A network and a recipe, with what is different."""

    name: str
    model: str = "quick"
    changes: dict[str, Any] = field(default_factory=dict)
    change_network: Callable[[nn.Module], None] | None = None

    def recipe(self, small: bool) -> Recipe:
        """Return the recipe of the network's name, changed."""
        changes = {"epochs": SHORT} | self.changes | ({"epochs": 2, "batch_size": 64} if small else {})
        return replace(preset(self.model), **changes)


# As many epochs as the target asks for; that of `quick` is a target of minutes, so it computes as this machine is fastest.
IN_FULL = (
    Variant("quick", changes={"epochs": 15, "precision": "fastest"}),
    Variant("quick-wide", "quick-wide", changes={"epochs": 12}),
)
VARIANTS = (
    Variant("all ingredients"),
    Variant("first layer learnt, not whitening", change_network=_learnt_first_layer),
    Variant("bias of the whitening fixed", changes={"whitening_bias": 0.0}),
    Variant("all filters random at first", change_network=_random_filters),
    Variant("biases as slow as the rest", changes={"bias_lr_factor": 1.0}),
    Variant("no label smoothing", changes={"label_smoothing": 0.0}),
    Variant("no lookahead", changes={"lookahead": 0.0}),
    Variant("flips at random", changes={"alternating_flip": False}),
    Variant("no flips", changes={"flip": False}),
    Variant("no crops", changes={"crop": 0}),
    Variant("crops with black edges", changes={"padding": "black"}),
    Variant("cosine, not a triangle", changes={"warmup": 0.0, "decay": "cosine", "lr_end": 0.0}),
    Variant("momentum without Nesterov", changes={"nesterov": False}),
    Variant("filters by Muon", changes={"muon_lr": 0.24}),
)


def run(request: Request) -> Findings:
    images, table = _images(request), request.out / "quick.jsonl"
    in_full = [_row(variant, images, table, request.small) for variant in IN_FULL]
    base, *others = (_row(variant, images, table, request.small) for variant in VARIANTS)
    for row in others:
        row["points_gained"] = 100 * (row["mirrored_accuracy"] - base["mirrored_accuracy"])
    return Findings([*in_full, base, *others], [SEED], [claim for row in in_full for claim in _claims(row)])


def _images(request: Request) -> Images:
    images = open_source(f"cifar10:{cifar10_folder(request)}")
    assert isinstance(images, Images)
    return first_images(images, 300) if request.small else images


def _claims(row: Row) -> list[Claim]:
    accuracy, seconds = TARGETS[row["variant"]]
    return [
        at_least(f"{row['variant']}: test accuracy with mirrored copies", row["mirrored_accuracy"], accuracy),
        at_most(f"{row['variant']}: seconds", row["seconds"], seconds),
    ]


def _row(variant: Variant, images: Images, table: Path, small: bool) -> Row:
    """Return what is known about a variant, which is trained first if necessary."""
    recipe = variant.recipe(small)
    which = {"variant": variant.name, "model": variant.model, "seed": SEED}
    which |= {"data": images.identity, "recipe": recipe.to_dict()}
    found = known_or(table, which, lambda: _trained(variant, recipe, images))
    return {key: value for key, value in found.items() if key not in ("data", "recipe", "seed")}


def _trained(variant: Variant, recipe: Recipe, images: Images) -> Row:
    model = NetworkSettings(model=variant.model, recipe=recipe, seed=SEED).untrained(images)
    if variant.change_network is not None:
        torch.manual_seed(SEED)
        variant.change_network(model)
    data, fabric = ImageBatches(images), fabric_for("cpu")
    began, worked = time.perf_counter(), time.process_time()
    training = train(model, data, recipe, fabric, seed=SEED)
    seconds, core_seconds = time.perf_counter() - began, time.process_time() - worked
    held_out = ImageBatches(images.held_out, data.scale)
    accuracy = {
        copies: quality(training.model, held_out, fabric.device, copies=copies).accuracy
        for copies in ("none", "mirrored", "mirrored-shifted")
    }
    return {
        "epochs": recipe.epochs,
        "threads": torch.get_num_threads(),
        "precision": number_type(recipe.precision, fabric),
        "seconds": seconds,
        "core_seconds": core_seconds,
        "pflop": training_pflop(training.model, (images.channels, *images.size), recipe, len(images)),
        "accuracy": accuracy["none"],
        "mirrored_accuracy": accuracy["mirrored"],
        "shifted_accuracy": accuracy["mirrored-shifted"],
        "load_at_end": load(),
    }
