"""What, with the data, determines the result of a run."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

from numpy.typing import ArrayLike

from leanset._memory import OF_A_RUN
from leanset._options import Option
from leanset._rules import a_seed, an_instance, at_least, is_number, is_whole, one_of, positive, yes_or_no
from leanset.influence import INVERSES, Inverse
from leanset.parsing import balance_in, bytes_in, named, numbers_in, rows_in_file
from leanset.scores import METHODS, Method
from leanset.select import AIMS, FORMULATIONS, Coverage
from leanset.settings.budget import BudgetOptions
from leanset.settings.head import HeadOptions
from leanset.settings.panels import CHOICE, HEAD, READING, SEARCH
from leanset.solve import SOLVERS, Solver

_BALANCES = ("proportional", "none")
_METHODS = ", ".join(METHODS)
_INVERSES = ", ".join(INVERSES)
_SOLVERS = ", ".join(SOLVERS)


def _a_method(value: Any) -> str | None:
    fine = isinstance(value, str | Method)
    return None if fine else "be a name or an instance such as `leanset.scores.EL2N()`"


def _a_balance(value: Any) -> str | None:
    fine = value in _BALANCES if isinstance(value, str) else is_whole(value) and value >= 1
    return None if fine else f"be {' or '.join(map(repr, _BALANCES))}, or a whole number of at least 1"


def _weight_bounds(value: Any) -> str | None:
    pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(is_number, value))
    return None if pair and 0 < value[0] <= 1 <= value[1] else "be two numbers low, high with 0 < low <= 1 <= high"


def _a_coverage(value: Any) -> str | None:
    fine = isinstance(value, Coverage) or (isinstance(value, str) and value in ("auto", "none"))
    return None if fine else "be 'auto', 'none' or `leanset.Coverage(...)`"


@dataclass(frozen=True, kw_only=True, eq=False)
class PruneOptions(HeadOptions, BudgetOptions):
    """The options that, with the data, determine the result of a run."""

    panel: ClassVar[str] = SEARCH

    sample_weight: Annotated[
        ArrayLike | None,
        Option(
            "(n,) how much each example counts in the loss, as scikit-learn's sample_weight; all alike if not given. The "
            "weights of the result contain it",
            READING,
            on_command_line=False,
            decides=False,
        ),
    ] = None
    head: Annotated[
        ArrayLike | None,
        Option(
            "(C, d+1) weights, bias last, of a head for the unscaled features; the fit starts from it",
            HEAD,
            on_command_line=False,
            decides=False,
        ),
    ] = None
    method: Annotated[
        Method | str | None,
        Option(
            "how the examples are chosen: by leanset's own search if not given, or by a method of the literature, "
            f"given by name ({_METHODS}; docs/scores.md) or with options (`leanset.scores.EL2N(...)`)",
            CHOICE,
            rule=_a_method,
            read=str,
        ),
    ] = None
    remove: Annotated[
        str | None,
        Option(
            "which scores to remove, 'low' or 'high', instead of the method's published choice",
            CHOICE,
            rule=one_of("low", "high"),
        ),
    ] = None
    class_balance: Annotated[
        str | int | None,
        Option(
            "'proportional' (the default), 'none' (the default of the paper's formulation), or the least "
            "number to keep of each class; no class is ever removed completely. For 0/1 labels and numbers, "
            "groups replace classes (docs/losses.md)",
            CHOICE,
            rule=_a_balance,
            read=balance_in,
        ),
    ] = None
    pinned: Annotated[
        ArrayLike | None,
        Option(
            "row numbers, or a mask, of examples that must stay; on the command line a text file with one "
            "number per line",
            CHOICE,
            read=rows_in_file("pinned"),
        ),
    ] = None
    weights: Annotated[
        bool,
        Option(
            "give the kept examples weights that leave the head where it is, exactly where that is possible; use "
            "them as sample weights when you train",
            CHOICE,
            rule=yes_or_no,
        ),
    ] = False
    weight_bounds: Annotated[
        tuple[float, float],
        Option(
            "least and largest factor on the weight of a kept example, e.g. 0.2,5; the factor is on 1, or on the number "
            "of examples it stands for where the kept ones were sampled",
            CHOICE,
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
            CHOICE,
            rule=one_of(*AIMS),
        ),
    ] = None
    suspects: Annotated[
        str,
        Option(
            "examples whose label is probably wrong, because heads fitted without them predict another class, and not because "
            "two classes overlap: 'list' marks them, 'drop' also leaves them out before anything else, "
            "'ignore' does not look for them",
            CHOICE,
            rule=one_of("list", "drop", "ignore"),
        ),
    ] = "list"
    formulation: Annotated[
        str,
        Option("'newton', or 'paper' for problems (a) and (b) as published", CHOICE, rule=one_of(*FORMULATIONS)),
    ] = "newton"
    coverage: Annotated[
        Coverage | str,
        Option(
            "'auto' keeps examples from which a network learns, if training dynamics are known (images), because it is "
            "trained anew; 'none' looks at the head alone; or `leanset.Coverage(...)` with options",
            CHOICE,
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
