"""Which network images are shown to."""

import os
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from leanset._options import Checked, Option
from leanset._rules import a_text, at_least, numbers, one_of, positive, yes_or_no
from leanset.head import PENALTIES
from leanset.parsing import numbers_in
from leanset.settings.panels import NETWORK


@dataclass(frozen=True, kw_only=True, eq=False)
class RetrainingOptions(Checked):
    """How a network is trained on a part of the examples."""

    panel: ClassVar[str] = NETWORK
    decides: ClassVar[bool] = False

    decay: Annotated[
        str,
        Option(
            "on a part of the examples, 'mean' leaves the weight decay as it is, and 'total' divides it by the share kept, "
            "which helps if little is kept (docs/comparison.md)",
            rule=one_of(*PENALTIES),
        ),
    ] = "mean"


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkOptions(Checked):
    """Which network to use for images, and how it gets its weights."""

    panel: ClassVar[str] = NETWORK
    decides: ClassVar[bool] = False

    model: Annotated[
        str | None,
        Option(
            "network to use: conv4, lenet, quick, quick-narrow, quick-wide, resnet8, resnet18, resnet20, resnet50, "
            "se-resnet18, se-resnet20, squeezenet, or a ConvNet such as convnet-3-128-relu-instance-average "
            "(docs/networks.md)",
            rule=a_text,
        ),
    ] = None
    checkpoint: Annotated[str | os.PathLike[str] | None, Option("file of weights to load instead of training")] = None
    stem: Annotated[
        str,
        Option("first layer, 'small' or 'large'; 'auto' chooses by image size", rule=one_of("auto", "small", "large")),
    ] = "auto"
    preset: Annotated[
        str | None,
        Option(
            "training recipe: 'fast', 'quick', 'quick-narrow', 'quick-wide', or 'published' for the paper's 200 epochs; if "
            "not given, the one with the network's name, else 'fast'",
            rule=one_of("fast", "quick", "quick-narrow", "quick-wide", "published"),
        ),
    ] = None
    epochs: Annotated[int | None, Option("passes over the data, instead of the preset's", rule=at_least(1))] = None
    batch_size: Annotated[int | None, Option("examples per step, instead of the preset's", rule=at_least(1))] = None
    lr: Annotated[float | None, Option("highest learning rate, instead of the preset's", rule=positive())] = None
    weight_decay: Annotated[
        float | None,
        Option("weight decay of the training, instead of the preset's; also the l2 of the head", rule=positive()),
    ] = None
    flip: Annotated[
        bool | None,
        Option("mirror half of the images; if not given, only colour images", rule=yes_or_no),
    ] = None
    crop: Annotated[int | None, Option("most pixels that a random crop may be off centre", rule=at_least(0))] = None
    precision: Annotated[
        str | None,
        Option(
            "of the products of a training: 'default' is float32 on a CPU and mixed on a GPU; 'bfloat16' is mixed on a CPU "
            "too, nearly twice as fast if it has instructions for it; 'fastest' is 'bfloat16' if it has, else 'default'. The "
            "preset's if not given",
            rule=one_of("default", "bfloat16", "fastest"),
        ),
    ] = None
    runs: Annotated[
        int, Option("number of trainings, with different seeds, to average scores over", rule=at_least(1))
    ] = 1
    retrain: Annotated[bool, Option("replace a different network in the output folder", rule=yes_or_no)] = False
    device: Annotated[str, Option("'auto', 'cpu', 'cuda' or 'mps'", rule=one_of("auto", "cpu", "cuda", "mps"))] = "auto"
    devices: Annotated[int, Option("number of devices", rule=at_least(1))] = 1
    mean: Annotated[
        tuple[float, ...] | None,
        Option(
            "channel means that the checkpoint's inputs were scaled with, e.g. 0.49,0.48,0.45",
            rule=numbers(),
            read=partial(numbers_in, option="mean"),
        ),
    ] = None
    std: Annotated[
        tuple[float, ...] | None,
        Option(
            "channel standard deviations that the checkpoint's inputs were scaled with",
            rule=numbers(above=0.0),
            read=partial(numbers_in, option="std"),
        ),
    ] = None
