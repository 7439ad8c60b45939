"""Every option, defined once: its name, type, default, help and rule.

The arguments and documentation of `leanset.prune`, the command-line options, `settings.json` and the table on the API
page are generated from these lines. To add an option, add a line here and use it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

from numpy.typing import ArrayLike

from leanset._memory import OF_A_RUN
from leanset._options import Checked, Option
from leanset._rules import (
    a_count,
    a_seed,
    a_share,
    a_share_or_number,
    a_text,
    an_instance,
    at_least,
    is_number,
    is_whole,
    names,
    not_negative,
    numbers,
    one_of,
    positive,
    shares,
    yes_or_no,
)
from leanset.head import LOSSES, PENALTIES
from leanset.influence import INVERSES, Inverse
from leanset.parsing import balance_in, bytes_in, named, numbers_in, rows_in_file, share_or_number_in, words_in
from leanset.rows import LOCAL
from leanset.scores import METHODS, Method
from leanset.select import AIMS, BUDGETS, FORMULATIONS, Budget, Coverage, the_budget
from leanset.solve import SOLVERS, Solver

BALANCES = ("proportional", "none")
_BUDGET = "Budget: exactly one"
_HEAD = "Fit of the head"
_CHOICE = "What to remove"
_SEARCH = "Search and certificate"
_RUN = "Run"
_NETWORK = "Network (for images)"
_COMPARISON = "Comparison"
_READING = "Reading data"
_LOSSES, _METHODS, _INVERSES, _SOLVERS = (", ".join(table) for table in (LOSSES, METHODS, INVERSES, SOLVERS))


def _a_method(value: Any) -> str | None:
    fine = isinstance(value, str | Method)
    return None if fine else "be a name or an instance such as `leanset.scores.EL2N()`"


def _a_balance(value: Any) -> str | None:
    fine = value in BALANCES if isinstance(value, str) else is_whole(value) and value >= 1
    return None if fine else f"be {' or '.join(map(repr, BALANCES))}, or a whole number of at least 1"


def _weight_bounds(value: Any) -> str | None:
    pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(is_number, value))
    return None if pair and 0 < value[0] <= 1 <= value[1] else "be two numbers low, high with 0 < low <= 1 <= high"


def _a_coverage(value: Any) -> str | None:
    fine = isinstance(value, Coverage) or (isinstance(value, str) and value in ("auto", "none"))
    return None if fine else "be 'auto', 'none' or `leanset.Coverage(...)`"


@dataclass(frozen=True, kw_only=True, eq=False)  # options may be arrays, which have no single truth value
class ReadingOptions(Checked):
    """How a source is read."""

    panel: ClassVar[str] = _READING
    decides: ClassVar[bool] = False

    on_bad_image: Annotated[
        str,
        Option(
            "what to do if an image cannot be read: 'stop', or 'skip' it",
            rule=one_of("stop", "skip"),
        ),
    ] = "stop"
    image_size: Annotated[
        int | None, Option("side in pixels to scale images to; 224 if not given and sizes differ", rule=at_least(1))
    ] = None
    label_column: Annotated[
        str | None,
        Option("label column of a table (parquet, csv, jsonl, hf, a frame); a usual name if not given", rule=a_text),
    ] = None
    weight_column: Annotated[
        str | None,
        Option(
            "column of a table that says how much each row counts, as scikit-learn's sample_weight; if not given, "
            "sample_weight, where there is such a column",
            rule=a_text,
        ),
    ] = None
    image_column: Annotated[
        str | None,
        Option("image column of a parquet or hf source; a usual name if not given", rule=a_text),
    ] = None
    feature_columns: Annotated[
        Sequence[str] | None,
        Option(
            "columns of a table to use as features, e.g. age,height; if not given, the column of number lists, or else "
            "all columns that are nothing else",
            rule=names,
            read=words_in,
        ),
    ] = None
    drop: Annotated[
        Sequence[str],
        Option("columns of a table to leave out, e.g. date,name", rule=names, read=words_in, shown="none"),
    ] = ()
    text_column: Annotated[
        str | None,
        Option("column of texts in a table, which become features by TF-IDF and its 100 main directions", rule=a_text),
    ] = None
    text_model: Annotated[
        str | os.PathLike[str] | None,
        Option("folder of a sentence-transformers model that turns the texts into features instead"),
    ] = None
    id_column: Annotated[
        str | None,
        Option("column of a table that names the rows, for kept.csv; a usual name if not given", rule=a_text),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkOptions(Checked):
    """Which network to use for images, and how it gets its weights."""

    panel: ClassVar[str] = _NETWORK
    decides: ClassVar[bool] = False

    model: Annotated[
        str | None,
        Option(
            "network to use: conv4, lenet, quick, quick-wide, resnet8, resnet18, resnet20, resnet50, se-resnet18, "
            "se-resnet20, squeezenet, or a ConvNet such as convnet-3-128-relu-instance-average "
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
            "training recipe: 'fast', 'quick', 'quick-wide', or 'published' for the paper's 200 epochs; if not given, the "
            "one with the network's name, else 'fast'",
            rule=one_of("fast", "quick", "quick-wide", "published"),
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


@dataclass(frozen=True, kw_only=True, eq=False)
class BudgetOptions(Checked):
    """How much to remove; exactly one of these is given."""

    fraction: Annotated[float | None, Option("share of examples to remove, in (0, 1)", _BUDGET, rule=a_share)] = None
    keep: Annotated[
        float | int | None,
        Option(
            "share of examples to keep, in (0, 1), or the number of examples to keep, as a whole number",
            _BUDGET,
            rule=a_share_or_number,
            read=share_or_number_in,
        ),
    ] = None
    count: Annotated[int | None, Option("number of examples to remove", _BUDGET, rule=a_count)] = None
    epsilon: Annotated[
        float | None,
        Option("largest measured change of the head's weights, ‖Δθ‖", _BUDGET, rule=positive()),
    ] = None
    relative_epsilon: Annotated[
        float | None,
        Option("largest measured change of the head's weights, as a share of their norm", _BUDGET, rule=positive()),
    ] = None
    max_loss_gap: Annotated[
        float | None,
        Option(
            "largest measured change of the mean validation loss, up or down, at the far end of its 95 % interval",
            _BUDGET,
            rule=positive(),
        ),
    ] = None
    max_accuracy_drop: Annotated[
        float | None,
        Option(
            "largest measured drop of the validation accuracy, e.g. 0.005, at the far end of its 95 % interval",
            _BUDGET,
            rule=a_share,
        ),
    ] = None
    min_agreement: Annotated[
        float | None,
        Option(
            "least share of answers that stay the same, e.g. 0.99, on the validation examples, or on the training examples "
            "without any",
            _BUDGET,
            rule=a_share,
        ),
    ] = None
    same_model: Annotated[
        bool,
        Option("as few examples as reproduce the head, with weights on them", _BUDGET, rule=yes_or_no),
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(getattr(self, name) not in (None, False) for name in BUDGETS) > 1:
            _ = self.budget  # which says what is wrong

    @property
    def budget(self) -> Budget:
        """The given budget."""
        return the_budget(**{name: getattr(self, name) for name in BUDGETS})


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadOptions(Checked):
    """The head's problem: its held-out data, its loss and its penalty."""

    validation: Annotated[
        tuple[ArrayLike, ...] | None,
        Option(
            "held-out (features, labels), or (features, labels, sample_weight)",
            _READING,
            on_command_line=False,
            decides=False,
        ),
    ] = None
    loss: Annotated[
        str,
        Option(
            f"loss of the head: {_LOSSES}; softmax for one class per example, sigmoid for any number "
            "of 0/1 labels, squared for numbers",
            _HEAD,
            rule=one_of(*LOSSES),
        ),
    ] = "softmax"
    l2: Annotated[
        float | None,
        Option(
            "weight of the penalty (l2/2)‖θ‖², 0 where the head has a minimum without; if not given, the network's weight "
            "decay, or for features the value with the lowest loss on the validation examples, or on held-out training "
            "examples without any",
            _HEAD,
            rule=not_negative,
        ),
    ] = None
    C: Annotated[
        float | None,
        Option(
            "scikit-learn's C (for squared, 1/alpha of Ridge) in place of l2: the head is scikit-learn's on the features "
            "as they are, so unless you set them, penalise_bias and standardize are False and penalty is 'total'. "
            "l2 = 1/(C·n) for n examples, 2/(C·n) for a softmax of two classes",
            _HEAD,
            rule=positive(),
        ),
    ] = None
    bias: Annotated[
        bool,
        Option("whether the head has a bias; scikit-learn's fit_intercept", _HEAD, rule=yes_or_no),
    ] = True
    penalise_bias: Annotated[
        bool | None,
        Option(
            "whether the penalty is also on the bias; scikit-learn leaves its intercept out. If not given, yes, unless C is "
            "given",
            _HEAD,
            rule=yes_or_no,
        ),
    ] = None
    penalty: Annotated[
        str | None,
        Option(
            "what stays fixed when you train on less: 'mean' leaves l2 alone (torch's weight decay), 'total' leaves "
            "n·l2 alone (scikit-learn's C); if not given, 'total' for features and 'mean' for a network",
            _HEAD,
            rule=one_of(*PENALTIES),
        ),
    ] = None
    standardize: Annotated[
        bool | None,
        Option(
            "scale the features by their mean and standard deviation first; if not given, only features that "
            "come without a network, and not with C",
            _HEAD,
            rule=yes_or_no,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class PruneOptions(HeadOptions, BudgetOptions):
    """The options that, with the data, determine the result of a run."""

    panel: ClassVar[str] = _SEARCH

    sample_weight: Annotated[
        ArrayLike | None,
        Option(
            "(n,) how much each example counts in the loss, as scikit-learn's sample_weight; all alike if not given. The "
            "weights of the result contain it",
            _READING,
            on_command_line=False,
            decides=False,
        ),
    ] = None
    head: Annotated[
        ArrayLike | None,
        Option(
            "(C, d+1) weights, bias last, of a head for the unscaled features; the fit starts from it",
            _HEAD,
            on_command_line=False,
            decides=False,
        ),
    ] = None
    method: Annotated[
        Method | str | None,
        Option(
            "how the examples are chosen: by leanset's own search if not given, or by a method of the literature, "
            f"given by name ({_METHODS}; docs/scores.md) or with options (`leanset.scores.EL2N(...)`)",
            _CHOICE,
            rule=_a_method,
            read=str,
        ),
    ] = None
    remove: Annotated[
        str | None,
        Option(
            "which scores to remove, 'low' or 'high', instead of the method's published choice",
            _CHOICE,
            rule=one_of("low", "high"),
        ),
    ] = None
    class_balance: Annotated[
        str | int | None,
        Option(
            "'proportional' (the default), 'none' (the default of the paper's formulation), or the least "
            "number to keep of each class; no class is ever removed completely. For 0/1 labels and numbers, "
            "groups replace classes (docs/losses.md)",
            _CHOICE,
            rule=_a_balance,
            read=balance_in,
        ),
    ] = None
    pinned: Annotated[
        ArrayLike | None,
        Option(
            "row numbers, or a mask, of examples that must stay; on the command line a text file with one "
            "number per line",
            _CHOICE,
            read=rows_in_file("pinned"),
        ),
    ] = None
    weights: Annotated[
        bool,
        Option(
            "give the kept examples weights that leave the head where it is, exactly where that is possible; use "
            "them as sample weights when you train",
            _CHOICE,
            rule=yes_or_no,
        ),
    ] = False
    weight_bounds: Annotated[
        tuple[float, float],
        Option(
            "least and largest factor on the weight of a kept example, e.g. 0.2,5; the factor is on 1, or on the number "
            "of examples it stands for where the kept ones were sampled",
            _CHOICE,
            rule=_weight_bounds,
            read=partial(numbers_in, option="weight_bounds"),
            shown="0.2,5",
        ),
    ] = (0.2, 5.0)
    minimise: Annotated[
        str | None,
        Option(
            "what the search minimises: 'parameters' (the change of the head's weights) or 'loss' (its rise on all training "
            "examples); if not given, parameters if at least three examples are kept for each free weight, else the loss, and "
            "a set that is not far better than a random one is replaced by it if that does better on held-out examples",
            _CHOICE,
            rule=one_of(*AIMS),
        ),
    ] = None
    suspects: Annotated[
        str,
        Option(
            "examples whose label is probably wrong, because heads fitted without them predict another class, and not because "
            "two classes overlap: 'list' marks them, 'drop' also leaves them out before anything else, "
            "'ignore' does not look for them",
            _CHOICE,
            rule=one_of("list", "drop", "ignore"),
        ),
    ] = "list"
    formulation: Annotated[
        str,
        Option("'newton', or 'paper' for problems (a) and (b) as published", _CHOICE, rule=one_of(*FORMULATIONS)),
    ] = "newton"
    coverage: Annotated[
        Coverage | str,
        Option(
            "'auto' keeps examples from which a network learns, if training dynamics are known (images), because it is "
            "trained anew; 'none' looks at the head alone; or `leanset.Coverage(...)` with options",
            _CHOICE,
            rule=_a_coverage,
            read=str,
        ),
    ] = "auto"
    inverse: Annotated[
        Inverse | None,
        Option(
            f"how to invert the Hessian, e.g. `leanset.ConjugateGradients()`; on the command line "
            f"{_INVERSES}; chosen by the size of the head if not given",
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
        Option("time limit of each search, instead of a number of proposals", rule=positive()),
    ] = None
    proposals: Annotated[int | None, Option("number of exchanges that each search tries", rule=at_least(1))] = None
    seed: Annotated[
        int,
        Option("seed of all random draws", rule=a_seed),
    ] = 0
    random_draws: Annotated[
        int,
        Option("number of random removals to compare with", rule=at_least(2, ", to report a spread")),
    ] = 5
    frontier: Annotated[bool, Option("also search the other sizes of the frontier", rule=yes_or_no)] = True
    memory: Annotated[
        int,
        Option(
            "about how many bytes a run may take at its peak, beside Python itself and what it was given in memory: features, "
            "predictions, influence vectors and Hessians that do not fit are read or computed anew in each pass, or "
            "approximated; some 160 bytes for each example are needed in any case; on the command line also e.g. 4GB",
            rule=at_least(2**24, " bytes (16 MiB)"),
            read=bytes_in,
            shown="4GiB",
        ),
    ] = OF_A_RUN


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkOptions(Checked):
    """How the work is done; no result depends on these, except that of training a network, which depends on `threads`."""

    panel: ClassVar[str] = _RUN
    decides: ClassVar[bool] = False

    threads: Annotated[
        int | None,
        Option("number of worker threads; all cores if not given", rule=at_least(1, ", or None for all cores")),
    ] = None
    progress: Annotated[
        bool | None,
        Option("show progress bars; None shows them if stderr is a terminal", rule=yes_or_no, on_command_line=False),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerOptions(Checked):
    """How many networks are trained at the same time."""

    panel: ClassVar[str] = _RUN
    decides: ClassVar[bool] = False

    workers: Annotated[
        int | None,
        Option("trainings in parallel; if not given, as many as cores, or one on a GPU", rule=at_least(1)),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class RunOptions(WorkOptions):
    """Where a run is saved, and how the work is done."""

    out: Annotated[str | os.PathLike[str] | None, Option("run folder to write to and to resume from")] = None
    overwrite: Annotated[bool, Option("replace a different run in the output folder", rule=yes_or_no)] = False
    wait: Annotated[
        bool,
        Option("if another run works in the output folder, wait for it; if not given, refuse to start", rule=yes_or_no),
    ] = False


def _a_cluster(value: Any) -> str | None:
    if isinstance(value, str) and value.startswith(LOCAL):
        workers = value.removeprefix(LOCAL)
        fine = workers.isdecimal() and int(workers) >= 1
    else:  # a client is known by what it can do: Dask may not be installed
        fine = "://" in value if isinstance(value, str) else hasattr(value, "submit")
    return None if fine else "be a client, the address of a scheduler such as tcp://10.0.0.5:8786, or local:4"


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterOptions(Checked):
    """Who computes the passes over the rows; no result depends on it."""

    panel: ClassVar[str] = _RUN
    decides: ClassVar[bool] = False

    dask: Annotated[
        Any,
        Option(
            "Dask cluster that computes the passes over the rows: the address of a scheduler, e.g. tcp://10.0.0.5:8786, or "
            "local:4 for 4 workers on this machine; in Python also a `dask.distributed.Client`. The answer is the same",
            rule=_a_cluster,
            read=str,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class CompareOptions(Checked):
    """What a comparison asks."""

    panel: ClassVar[str] = _COMPARISON

    methods: Annotated[
        Sequence[str] | None,
        Option(
            "methods to compare, on the command line e.g. leanset,el2n: leanset, leanset-weights (for features; leanset "
            "with weights on what it keeps), balanced (for images; leanset without coverage), shorter (for images; all "
            "data for as few steps), paper, or methods of the literature (docs/scores.md). stratified-random is always "
            "included; a few others if not given",
            rule=names,
            read=words_in,
        ),
    ] = None
    fractions: Annotated[
        Sequence[float] | None,
        Option(
            "shares of the examples to remove; if not given, 0.4,0.7,0.9 of features and 0.2,0.4,0.6 of images",
            rule=shares,
            read=partial(numbers_in, option="fractions"),
        ),
    ] = None
    seeds: Annotated[
        int | None,
        Option(
            "number of repetitions, each with its own draws; if not given, 5 for features and 3 for images",
            rule=at_least(1),
        ),
    ] = None
    held_out_share: Annotated[
        float | None,
        Option("share of each class to hold out if the data have no held-out part; 0.2 if not given", rule=a_share),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class CompareSettings(WorkOptions, ReadingOptions, HeadOptions, CompareOptions):
    """All options of `leanset.compare`, checked; pass an instance as `settings=`, or the options as keywords.

    Examples
    --------
    >>> import leanset
    >>> leanset.CompareSettings(methods=["el2n"], fractions=[0.4]).fractions
    [0.4]
    """

    out: Annotated[
        str | os.PathLike[str] | None,
        Option("folder for the tables; work that is finished there is not repeated", _COMPARISON, decides=False),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings(ClusterOptions, RunOptions, ReadingOptions, NetworkOptions, PruneOptions):
    """All options of `leanset.prune`, checked; pass an instance as `settings=`, or the options as keywords.

    Examples
    --------
    >>> import leanset
    >>> leanset.Settings(fraction=0.4, seed=3).budget
    Fraction(value=0.4)
    """

    sign: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "PEM file of an Ed25519 private key to sign the run's manifest with (needs the sign extra; docs/verify.md)",
            _RUN,
            decides=False,
        ),
    ] = None
