"""Check the settings against the data and make every choice, before anything is computed."""

import json
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import Matrix, Rows, mask_of, places_among
from leanset._errors import InputError
from leanset._options import options_of
from leanset.data import Targets
from leanset.head import LOSSES, PENALTIES, Loss, Penalty
from leanset.problem import Constraints
from leanset.select import BUDGETS, LEAST_OF_A_CLASS, Budget, Coverage, Strategy, covers, strategy_named
from leanset.settings import Settings


@dataclass(frozen=True)
class Outline:
    """The facts about the data that a plan needs; they are known even before a network is trained.

    Attributes
    ----------
    targets : of all examples
    width : number of features
    total : how much the examples count together: n, or the sum of their weights
    rows : (n,) row number of each example in the source
    left_out : whether rows of the source were left out
    held_out : whether there is validation data
    dynamics : whether training dynamics are available
    l2 : weight decay of the network, or None
    penalty, standardize : defaults for the fit of the head
    in_memory : bytes of the features that are in memory already
    """

    targets: Targets
    width: int
    total: float
    rows: Rows
    left_out: bool
    held_out: bool
    dynamics: bool
    l2: float | None
    penalty: str
    standardize: bool
    in_memory: int = 0

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class Plan:
    """What a run will do.

    Attributes
    ----------
    settings : with every default filled in
    budget, loss, strategy, coverage, constraints : derived from the settings and the data
    """

    settings: Settings
    budget: Budget
    loss: Loss
    strategy: Strategy
    coverage: Coverage | None
    constraints: Constraints

    @property
    def l2(self) -> float | None:
        """Weight of the penalty; None if it is chosen when the head is fitted."""
        return self.settings.l2

    @property
    def penalty(self) -> Penalty:
        """What stays fixed when training on less."""
        assert self.settings.penalty is not None  # filled in
        return PENALTIES[self.settings.penalty]

    @property
    def kind_of_head(self) -> dict[str, bool]:
        """Whether the features are standardised, whether there is a bias, and whether the penalty is on it, too."""
        return {name: bool(getattr(self.settings, name)) for name in ("standardize", "bias", "penalise_bias")}

    def identity(self) -> dict[str, Any]:
        """Return the options that the answer depends on as plain values; equal plans have equal dicts."""
        deciding = [name for name, option in options_of(Settings).items() if option.decides and name not in BUDGETS]
        plain = {name: _described(getattr(self.settings, name)) for name in deciding}
        meant = {"budget": self.budget.to_dict(), "coverage": _described(self.coverage)}
        return json.loads(json.dumps(plain | meant))  # type: ignore[no-any-return]


def plan_for(settings: Settings, outline: Outline) -> Plan:
    """Check settings against the data, raise if they do not fit, and return the plan."""
    budget = settings.budget
    budget.check(len(outline))
    loss = LOSSES[settings.loss](len(outline.targets.names))
    if outline.targets.kind != loss.targets:
        raise InputError(f"`loss={settings.loss!r}` needs other targets: these data have {outline.targets.kind}.")
    coverage = _coverage(settings, outline)
    named = strategy_named(
        settings.formulation,
        settings.method,
        remove=settings.remove,
        coverage=coverage,
        solver=settings.solver,
        weight_bounds=_bounds(settings, budget),
        minimise=settings.minimise,
    ).within(budget)
    strategy = _limited(named, settings)
    strategy.check_budget(budget)
    _check_memory(settings, loss, outline.width + 1)
    if settings.head is not None:
        checked_head(settings.head, (loss.outputs, outline.width + 1))
    if budget.needs_validation and not outline.held_out:
        raise InputError(
            f"`{budget.name}` is measured on validation data; pass `validation=(val_features, val_labels)`."
        )
    if settings.suspects == "drop" and loss.targets != "classes":
        raise InputError(f"`suspects='drop'` needs classes: `loss={settings.loss!r}` has {loss.targets}.")
    if budget.needs_answers and loss.answers is None:
        raise InputError(
            f"`{budget.name}` counts right or wrong answers, which `loss={settings.loss!r}` does not have."
        )
    filled = replace(
        settings,
        l2=_l2(settings, loss, outline),
        C=None,
        **_kind_of_head(settings, outline),
        class_balance=_balance(settings.class_balance, strategy, outline.targets),
        pinned=_pins(settings.pinned, outline),
        method=strategy.chooser,
        solver=settings.solver if strategy is named else strategy.solver,
        seconds=None,
        proposals=None,
    )
    return Plan(filled, budget, loss, strategy, coverage, _constraints(filled, budget, outline))


def _described(choice: Any) -> Any:
    """Return an object and its options, recursively, as plain values."""
    if isinstance(choice, tuple):
        return list(choice)
    if isinstance(choice, np.generic):
        return choice.item()
    if not is_dataclass(choice) or isinstance(choice, type):
        return choice
    return {"name": type(choice).__name__} | {
        item.name: _described(getattr(choice, item.name)) for item in fields(choice)
    }


def _kind_of_head(settings: Settings, outline: Outline) -> dict[str, Any]:
    """Return what is penalised, what stays fixed and whether features are scaled: as given, or by default."""
    kind: dict[str, Any] = {
        "penalise_bias": True,
        "penalty": outline.penalty,
        "standardize": outline.standardize,
    }
    if settings.C is not None:  # scikit-learn's head, on these very features
        kind = {"penalise_bias": not settings.bias, "penalty": "total", "standardize": False}
    if not settings.bias and settings.penalise_bias is False:
        raise InputError("`penalise_bias=False` does not apply to a head without a bias (`bias=False`).")
    if not settings.bias and settings.l2 == 0:
        raise InputError("`bias=False` needs a penalty, but `l2=0`; give an `l2` above 0.")
    given = {name: getattr(settings, name) for name in kind}
    return kind | {name: value for name, value in given.items() if value is not None}


def _l2(settings: Settings, loss: Loss, outline: Outline) -> float | None:
    if settings.l2 is not None and settings.C is not None:
        raise InputError(f"`l2={settings.l2}` and `C={settings.C}` are two ways to say one thing; give one of them.")
    if settings.C is not None:
        return loss.l2_of(settings.C, outline.total)
    given = outline.l2 if settings.l2 is None else settings.l2
    return None if given is None else float(given)


def _bounds(settings: Settings, budget: Budget) -> tuple[float, float] | None:
    low, high = settings.weight_bounds
    return (float(low), float(high)) if settings.weights or budget.needs_weights else None


def _limited(strategy: Strategy, settings: Settings) -> Strategy:
    """Return a strategy whose solver has the requested effort."""
    effort = {name: getattr(settings, name) for name in ("seconds", "proposals")}
    given = {name: value for name, value in effort.items() if value is not None}
    if not given:
        return strategy
    if strategy.solver is None:
        [(name, value), *_] = given.items()
        raise InputError(f"`method={strategy.method!r}` does not search, so `{name}={value}` does not apply to it.")
    return strategy.with_solver(strategy.solver.limited(**given))


def _coverage(settings: Settings, outline: Outline) -> Coverage | None:
    """Return the coverage; by default, difficulties are covered if training dynamics were recorded."""
    coverage, possible = settings.coverage, covers(settings.formulation, settings.method)
    if isinstance(coverage, str):
        wanted = coverage == "auto" and possible and outline.dynamics and _bounds(settings, settings.budget) is None
        return Coverage() if wanted else None
    if not possible:
        raise InputError(f"`coverage={coverage!r}` is part of leanset's own search; other methods do not use it.")
    if not outline.dynamics:
        raise InputError(
            f"`coverage={coverage!r}` needs training dynamics, which give the difficulty of the examples and were not "
            "recorded; record them with `leanset.torch.train`, or let leanset decide with coverage='auto'."
        )
    return coverage


def _check_memory(settings: Settings, loss: Loss, width: int) -> None:
    size, memory, inverse = loss.outputs * width, settings.memory, settings.inverse
    needed = 0 if inverse is None else inverse.matrix_bytes(size)
    if needed > memory:
        raise InputError(
            f"`inverse={inverse!r}` needs matrices of {size:,} × {size:,} numbers, {needed / 2**20:,.0f} MiB, but "
            f"`memory={memory}` allows {memory / 2**20:,.0f} MiB; raise it, or let leanset choose with inverse=None."
        )


def _balance(balance: str | int | None, strategy: Strategy, targets: Targets) -> str | int:
    if balance is None:
        return strategy.balance
    if isinstance(balance, str):
        return balance
    sizes = targets.group_sizes
    smallest = int(sizes[sizes > 0].min())
    if isinstance(balance, int | np.integer) and not isinstance(balance, bool) and 1 <= balance <= smallest:
        return int(balance)
    raise InputError(
        f"`class_balance={balance!r}` must be 'proportional', 'none', or the least number to keep of each class, in "
        f"1..{smallest} (the smallest class has {smallest})."
    )


def _pins(pinned: ArrayLike | None, outline: Outline) -> tuple[int, ...]:
    """Return the source row numbers of the pinned examples."""
    if pinned is None:
        return ()
    values, n = np.asarray(pinned), len(outline)
    if values.size == 0:
        return ()
    if values.dtype == bool and values.shape == (n,):
        values = outline.rows[values]
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InputError(
            f"`pinned` must be a list of row numbers or a mask of {n:,} booleans; got {values.dtype} {values.shape}."
        )
    outside = places_among(outline.rows, values.astype(np.int64)) < 0
    if outside.any():
        raise InputError(
            f"`pinned` has {int(outside.sum())} rows outside 0..{int(outline.rows[-1])}"
            f"{' or left out as unreadable' if outline.left_out else ''}; first: {int(values[np.argmax(outside)])}."
        )
    return tuple(np.unique(values.astype(np.int64)).tolist())


def _constraints(settings: Settings, budget: Budget, outline: Outline) -> Constraints:
    """Translate the settings into constraints on the rows, and check that they allow the requested size."""
    balance, pins = settings.class_balance, np.array(settings.pinned, dtype=np.int64)
    constraints = Constraints(
        groups=outline.targets.groups,
        n_groups=len(outline.targets.group_names),
        pinned=mask_of(places_among(outline.rows, pins), len(outline))
        | mask_of(outline.targets.protected, len(outline)),
        proportional=balance == "proportional",
        least_kept=balance if isinstance(balance, int) else LEAST_OF_A_CLASS if budget.has_floor else 1,
    )
    if constraints.most == 0:
        raise InputError("nothing can be removed: every row is pinned or needed to keep its class.")
    if budget.is_size:
        constraints.check(budget.size(len(outline)))
    return constraints


def checked_head(head: ArrayLike, shape: tuple[int, int]) -> Matrix:
    """Return a given head as an array, or say what it must be."""
    try:
        weights = np.asarray(head, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != shape or not np.isfinite(weights).all():
        raise InputError(
            f"`head=` must be a finite {shape} array, one row per class or target, the bias as last column; got shape "
            f"{weights.shape}."
        )
    return weights
