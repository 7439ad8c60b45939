"""The options of the commands, each described once."""

from pathlib import Path
from typing import Annotated

import typer

from leanset.scores import METHODS

_BUDGET = "Budget: exactly one"
_NETWORK = "Network (for images)"
_READING = "Reading images"

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="cifar10:, cifar100:, tiny-imagenet:, idx:, folder:, npz:, parquet: or hf: and a path; head: and a folder of head "
        "statistics; or an npz or parquet file of features and labels.",
    ),
]
Fraction = Annotated[float | None, typer.Option(help="Share to remove, in (0, 1).", rich_help_panel=_BUDGET)]
Count = Annotated[int | None, typer.Option(help="Number to remove.", rich_help_panel=_BUDGET)]
Epsilon = Annotated[
    float | None, typer.Option(help="Most that the head may change, measured.", rich_help_panel=_BUDGET)
]
RelativeEpsilon = Annotated[
    float | None, typer.Option(help="The same, as a share of the head's norm.", rich_help_panel=_BUDGET)
]
MaxLossGap = Annotated[
    float | None, typer.Option(help="Most that the validation loss may rise.", rich_help_panel=_BUDGET)
]
Out = Annotated[Path | None, typer.Option(help="Run folder to write, and to resume from.")]
NetworkOut = Annotated[Path | None, typer.Option("--out", help="Folder for the network; checkpoints to resume from.")]
Subset = Annotated[Path | None, typer.Option(help="Text file with the row numbers to train on, e.g. run/kept.txt.")]
Method = Annotated[
    str, typer.Option(help=f"leanset, or a method of the literature: {', '.join(METHODS)} (docs/scores.md).")
]
Remove = Annotated[
    str | None, typer.Option(help="low or high: the end of the method's scale that goes, instead of the published one.")
]
L2 = Annotated[
    float | None, typer.Option(help="Weight of the penalty; 1e-4, or the network's weight decay.", show_default=False)
]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Scale the features first; by default not those of a network.",
        show_default=False,
    ),
]
Balance = Annotated[str | None, typer.Option(help="proportional, none, or the least number of each class to keep.")]
Pinned = Annotated[Path | None, typer.Option(help="Text file with the row numbers that must stay, one a line.")]
Formulation = Annotated[str, typer.Option(help="newton, or paper (as published).")]
Coverage = Annotated[
    str,
    typer.Option(
        help="auto: leanset keeps some of every difficulty where a training tells it (images); none: it does not."
    ),
]
Inverse = Annotated[str | None, typer.Option(help="cholesky, cg, lissa or kronecker; chosen for you if not given.")]
Solver = Annotated[str | None, typer.Option(help="adaptive, annealing (the paper's) or exhaustive.")]
Seconds = Annotated[float | None, typer.Option(help="Time for each search, instead of a number of proposals.")]
Proposals = Annotated[int | None, typer.Option(help="Exchanges that each search tries.")]
Seed = Annotated[int, typer.Option(help="Of everything that is random.")]
RandomDraws = Annotated[int, typer.Option(help="Random removals to compare with.")]
WithFrontier = Annotated[bool, typer.Option(help="Also search the other sizes.")]
Memory = Annotated[str, typer.Option(help="For stored vectors and Hessians, e.g. 2GiB.")]
Threads = Annotated[int | None, typer.Option(help="Worker threads; all cores if not given.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace another run in the output folder.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would cost and stop.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no table.")]

Model = Annotated[
    str | None,
    typer.Option(
        help="conv4, lenet, resnet8, resnet18, resnet20, resnet50, se-resnet18, se-resnet20, squeezenet, or a ConvNet such as "
        "convnet-3-128-relu-instance-average (docs/networks.md).",
        rich_help_panel=_NETWORK,
    ),
]
Checkpoint = Annotated[Path | None, typer.Option(help="Weights to take instead of training.", rich_help_panel=_NETWORK)]
Stem = Annotated[str | None, typer.Option(help="small or large; by image size if not given.", rich_help_panel=_NETWORK)]
Preset = Annotated[
    str | None,
    typer.Option(help="Training recipe: fast (the default) or paper (200 epochs).", rich_help_panel=_NETWORK),
]
Epochs = Annotated[int | None, typer.Option(help="Overrides the preset's.", rich_help_panel=_NETWORK)]
BatchSize = Annotated[int | None, typer.Option(help="Overrides the preset's.", rich_help_panel=_NETWORK)]
Rate = Annotated[float | None, typer.Option("--lr", help="Overrides the preset's.", rich_help_panel=_NETWORK)]
WeightDecay = Annotated[
    float | None, typer.Option(help="Overrides the preset's; also the head's l2.", rich_help_panel=_NETWORK)
]
Flip = Annotated[
    bool | None,
    typer.Option(
        "--flip/--no-flip", help="Mirror half of the images; by default only colour ones.", rich_help_panel=_NETWORK
    ),
]
Crop = Annotated[int | None, typer.Option(help="Pixels that crops may be off centre.", rich_help_panel=_NETWORK)]
Retrain = Annotated[
    bool,
    typer.Option("--retrain", help="Replace another network in the output folder.", rich_help_panel=_NETWORK),
]
Runs = Annotated[
    int | None,
    typer.Option(help="Trainings with different seeds that scores are averaged over.", rich_help_panel=_NETWORK),
]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.", rich_help_panel=_NETWORK)]
Devices = Annotated[int | None, typer.Option(help="How many of them.", rich_help_panel=_NETWORK)]
Mean = Annotated[
    str | None,
    typer.Option(help="Channel means of a checkpoint's own scaling, e.g. 0.49,0.48,0.45.", rich_help_panel=_NETWORK),
]
Deviation = Annotated[str | None, typer.Option("--std", help="Channel deviations, likewise.", rich_help_panel=_NETWORK)]
OnBadImage = Annotated[str | None, typer.Option(help="stop, or skip and go on without it.", rich_help_panel=_READING)]
ImageSize = Annotated[
    int | None, typer.Option(help="Pixels to bring images to, if they differ.", rich_help_panel=_READING)
]
LabelColumn = Annotated[str | None, typer.Option(help="Of a parquet or hf source.", rich_help_panel=_READING)]
ImageColumn = Annotated[str | None, typer.Option(help="Of a parquet or hf source.", rich_help_panel=_READING)]
