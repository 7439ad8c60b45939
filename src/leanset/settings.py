"""Every option, once: its name, type, default, help and rule.

`leanset.prune`'s arguments and documentation, the command line's options, `settings.json` and the table on the API page
are made from these lines. To add an option, add a line here and use it.
"""

import os
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from numpy.typing import ArrayLike

from leanset._options import Checked, Option
from leanset._rules import a_count, a_seed, a_share, an_instance, at_least, one_of, positive, yes_or_no
from leanset.head import LOSSES
from leanset.influence import INVERSES, Inverse
from leanset.parsing import balance_in, bytes_in, named, numbers_in, rows_in_file
from leanset.scores import METHODS, Method
from leanset.select import BUDGETS, FORMULATIONS, Budget, Coverage, the_budget
from leanset.solve import SOLVERS, Solver

DEFAULT_MEMORY = 2**30
_BUDGET = "Budget: exactly one"
_HEAD = "The head's problem"
_CHOICE = "What goes"
_SEARCH = "Search and certificate"
_RUN = "Run"
_NETWORK = "Network (for images)"
_READING = "Reading data"
_LOSSES, _METHODS, _INVERSES, _SOLVERS = (", ".join(table) for table in (LOSSES, METHODS, INVERSES, SOLVERS))


def _a_method(value: Any) -> str | None:
    fine = isinstance(value, str | Method)
    return None if fine else "be a name or an instance such as `leanset.scores.EL2N()`"


def _a_coverage(value: Any) -> str | None:
    fine = isinstance(value, Coverage) or (isinstance(value, str) and value in ("auto", "none"))
    return None if fine else "be 'auto', 'none' or `leanset.Coverage(...)`"


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(Checked):
    """How a source is read."""

    panel: ClassVar[str] = _READING
    decides: ClassVar[bool] = False

    on_bad_image: Annotated[
        str | None,
        Option(
            "what to do about an image that cannot be read: 'stop' (the default), or 'skip' and go on without it",
            rule=one_of("stop", "skip"),
        ),
    ] = None
    image_size: Annotated[int | None, Option("pixels to bring images to, if they differ", rule=at_least(1))] = None
    label_column: Annotated[
        str | None,
        Option("label column of a parquet or hf source; the usual names if not given"),
    ] = None
    image_column: Annotated[
        str | None,
        Option("image column of a parquet or hf source; the usual names if not given"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(Checked):
    """Which network looks at images, and how it comes to its weights."""

    panel: ClassVar[str] = _NETWORK
    decides: ClassVar[bool] = False

    model: Annotated[
        str | None,
        Option(
            "network of the zoo: conv4, lenet, resnet8, resnet18, resnet20, resnet50, se-resnet18, "
            "se-resnet20, squeezenet, or a ConvNet such as convnet-3-128-relu-instance-average "
            "(docs/networks.md)",
        ),
    ] = None
    checkpoint: Annotated[str | os.PathLike[str] | None, Option("weights to take instead of training")] = None
    stem: Annotated[str | None, Option("first layer, 'small' or 'large'; by image size if not given")] = None
    preset: Annotated[
        str | None,
        Option("training recipe: 'fast' (the default), or 'published' for the paper's 200 epochs"),
    ] = None
    epochs: Annotated[int | None, Option("passes over the data, instead of the preset's")] = None
    batch_size: Annotated[int | None, Option("examples a step, instead of the preset's")] = None
    lr: Annotated[float | None, Option("largest learning rate, instead of the preset's")] = None
    weight_decay: Annotated[
        float | None,
        Option("penalty of the training, instead of the preset's; also the head's l2"),
    ] = None
    flip: Annotated[
        bool | None,
        Option("mirror half of the images; only colour ones if not given", rule=yes_or_no),
    ] = None
    crop: Annotated[int | None, Option("pixels that random crops may be off centre")] = None
    runs: Annotated[
        int | None,
        Option("trainings with different seeds that scores are averaged over; 1 if not given", rule=at_least(1)),
    ] = None
    retrain: Annotated[bool, Option("replace another network in the output folder", rule=yes_or_no)] = False
    device: Annotated[
        str | None,
        Option("'auto' (the default), 'cpu', 'cuda' or 'mps'", rule=one_of("auto", "cpu", "cuda", "mps")),
    ] = None
    devices: Annotated[int | None, Option("how many of them; 1 if not given", rule=at_least(1))] = None
    mean: Annotated[
        tuple[float, ...] | None,
        Option("channel means of a checkpoint's own scaling, e.g. 0.49,0.48,0.45", read=numbers_in),
    ] = None
    std: Annotated[
        tuple[float, ...] | None,
        Option("channel deviations of a checkpoint's own scaling", read=numbers_in),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PruneOptions(Checked):
    """What determines a run's answer besides its data."""

    panel: ClassVar[str] = _SEARCH

    fraction: Annotated[float | None, Option("share to remove, in (0, 1)", _BUDGET, rule=a_share)] = None
    count: Annotated[int | None, Option("number to remove", _BUDGET, rule=a_count)] = None
    epsilon: Annotated[
        float | None,
        Option("most that the head's weights may change, ‖Δθ‖, measured", _BUDGET, rule=positive()),
    ] = None
    relative_epsilon: Annotated[
        float | None,
        Option("the same, as a share of the head's norm", _BUDGET, rule=positive()),
    ] = None
    max_loss_gap: Annotated[
        float | None,
        Option("most that the validation loss may rise, measured", _BUDGET, rule=positive()),
    ] = None
    validation: Annotated[
        tuple[ArrayLike, ArrayLike] | None,
        Option("held-out (features, labels)", _READING, on_command_line=False, decides=False),
    ] = None
    loss: Annotated[
        str,
        Option(
            f"loss of the head: {_LOSSES}; softmax for one class an example, sigmoid for any number "
            "of 0/1 labels, squared for numbers",
            _HEAD,
            rule=one_of(*LOSSES),
        ),
    ] = "softmax"
    l2: Annotated[
        float | None,
        Option(
            "weight of the penalty (l2/2)‖θ‖² on all weights, bias included; 1e-4, or a network's weight "
            "decay, if not given",
            _HEAD,
            rule=positive(": without a penalty the head of separable data has no minimum"),
        ),
    ] = None
    standardize: Annotated[
        bool | None,
        Option(
            "scale the features by their own mean and standard deviation first; if not given, only those "
            "that come without a network",
            _HEAD,
            rule=yes_or_no,
        ),
    ] = None
    head: Annotated[
        ArrayLike | None,
        Option(
            "(C, d+1) weights, bias last, of a head for the features as given, to start from; it is polished "
            "to a minimum",
            _HEAD,
            on_command_line=False,
            decides=False,
        ),
    ] = None
    method: Annotated[
        Method | str | None,
        Option(
            "what chooses the examples: leanset's own search if not given, or a method of the literature by "
            f"name ({_METHODS}; docs/scores.md) or with options (`leanset.scores.EL2N(...)`)",
            _CHOICE,
            rule=_a_method,
            read=str,
        ),
    ] = None
    remove: Annotated[
        str | None,
        Option(
            "the end of the method's scale that goes, 'low' or 'high', instead of the published one",
            _CHOICE,
            rule=one_of("low", "high"),
        ),
    ] = None
    class_balance: Annotated[
        str | int | None,
        Option(
            "'proportional' (the default), 'none' (the default of the paper's formulation), or the least "
            "number to keep of each class; no class is ever wiped out. With labels and numbers, groups take "
            "the place of classes (docs/losses.md)",
            _CHOICE,
            read=balance_in,
        ),
    ] = None
    pinned: Annotated[
        ArrayLike | None,
        Option(
            "row numbers, or a mask, of examples that must stay; on the command line a text file with one "
            "number a line",
            _CHOICE,
            read=rows_in_file("pinned"),
        ),
    ] = None
    formulation: Annotated[
        str,
        Option("'newton', or 'paper' for problems (a) and (b) as published", _CHOICE, rule=one_of(*FORMULATIONS)),
    ] = "newton"
    coverage: Annotated[
        Coverage | str,
        Option(
            "'auto' keeps some of every difficulty where a training tells it (images), since a network that "
            "is trained anew needs them; 'none', or `leanset.Coverage(...)` with options",
            _CHOICE,
            rule=_a_coverage,
            read=str,
        ),
    ] = "auto"
    inverse: Annotated[
        Inverse | None,
        Option(
            f"how to invert the Hessian, e.g. `leanset.ConjugateGradients()`; on the command line "
            f"{_INVERSES}; by the head's size if not given",
            rule=an_instance(Inverse, "leanset.Cholesky()"),
            read=named("inverse", INVERSES),
        ),
    ] = None
    solver: Annotated[
        Solver | None,
        Option(
            f"how to search, e.g. `leanset.AdaptiveAnnealing(seconds=10)`; on the command line {_SOLVERS}",
            rule=an_instance(Solver, "leanset.AdaptiveAnnealing()"),
            read=named("solver", SOLVERS),
        ),
    ] = None
    seconds: Annotated[
        float | None,
        Option("time for each search, instead of a number of proposals", rule=positive()),
    ] = None
    proposals: Annotated[int | None, Option("exchanges that each search tries", rule=at_least(1))] = None
    seed: Annotated[
        int,
        Option("seed of every random draw; the answer does not depend on the number of threads", rule=a_seed),
    ] = 0
    random_draws: Annotated[
        int,
        Option("random removals to compare with", rule=at_least(2, ", or there is no spread to report")),
    ] = 5
    frontier: Annotated[bool, Option("also search the other sizes of the frontier", rule=yes_or_no)] = True
    memory: Annotated[
        int,
        Option(
            "bytes that stored influence vectors and Hessians may take, e.g. 2GiB on the command line",
            rule=at_least(2**24, " bytes (16 MiB)"),
            read=bytes_in,
        ),
    ] = DEFAULT_MEMORY

    @property
    def budget(self) -> Budget:
        """The one budget that was given."""
        return the_budget(**{name: getattr(self, name) for name in BUDGETS})


@dataclass(frozen=True, kw_only=True)
class RunOptions(Checked):
    """Where and how a run works; its answer does not depend on these."""

    panel: ClassVar[str] = _RUN
    decides: ClassVar[bool] = False

    threads: Annotated[
        int | None,
        Option("worker threads; all cores if not given", rule=at_least(1, ", or None for all cores")),
    ] = None
    out: Annotated[str | os.PathLike[str] | None, Option("run folder to write, and to resume from")] = None
    overwrite: Annotated[bool, Option("replace another run in the output folder", rule=yes_or_no)] = False
    progress: Annotated[
        bool | None,
        Option("show progress bars; None shows them if a person is watching", rule=yes_or_no, on_command_line=False),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings(RunOptions, ReadingOptions, NetworkOptions, PruneOptions):
    """All options of `leanset.prune`, checked; pass it as `settings=` or use the same names as keywords.

    Examples
    --------
    >>> import leanset
    >>> leanset.Settings(fraction=0.4, seed=3).budget
    Fraction(value=0.4)
    """
