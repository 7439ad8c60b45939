import json
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import Rows, mask_of
from leanset._errors import InputError
from leanset.data import Examples
from leanset.influence import Inverse, Kronecker
from leanset.influence.vectors import dense_bytes
from leanset.pipeline.coverage import Coverage
from leanset.pipeline.inputs import Inputs
from leanset.problem import Constraints
from leanset.scores import AUM, Method, method_named
from leanset.solve import SimulatedAnnealing, Solver

DEFAULT_MEMORY = 2**30
BudgetKind = Literal["fraction", "count", "epsilon", "relative_epsilon", "max_loss_gap"]


@dataclass(frozen=True)
class Budget:
    """The one limit a run is given: a size, or a bound on what the removal may do."""

    kind: BudgetKind
    value: float

    @property
    def is_size(self) -> bool:
        """Whether the number to remove is given."""
        return self.kind in ("fraction", "count")

    def limit(self, head_norm: float) -> float:
        """Return the most that the measured quantity may be, given ‖θ̂‖."""
        return self.value * head_norm if self.kind == "relative_epsilon" else self.value

    def size(self, n: int) -> int:
        """Return the number to remove out of n."""
        return max(1, round(self.value * n)) if self.kind == "fraction" else int(self.value)


@dataclass(frozen=True, kw_only=True)
class PruneSettings:
    """All that determines a run's answer besides its data."""

    budget: Budget
    l2: float
    standardize: bool
    class_balance: str | int
    pinned: tuple[int, ...]
    method: Method | None
    formulation: str
    coverage: Coverage | None
    inverse: Inverse | None
    solver: Solver | None
    seed: int
    random_draws: int
    frontier: bool
    memory: int
    head_digest: str | None
    recorded_digest: str | None

    @property
    def method_name(self) -> str:
        """What chooses the examples: "leanset" or a method of the literature."""
        return "leanset" if self.method is None else self.method.name

    def known_before_capture(self) -> dict[str, Any]:
        """Return the part of `to_dict` that does not depend on what a network makes of the data."""
        return {key: value for key, value in self.to_dict().items() if not key.endswith("_digest")}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `settings.json`; equal dicts mean equal settings."""
        plain = {key: getattr(self, key) for key in self.__dataclass_fields__}
        plain["budget"] = {self.budget.kind: self.budget.value}
        plain["pinned"] = list(self.pinned)
        for name in ("method", "coverage", "inverse", "solver"):
            plain[name] = _described(plain[name])
        return json.loads(json.dumps(plain))  # type: ignore[no-any-return]


def _described(choice: Any) -> Any:
    """Write a choice with its options, which may be choices themselves, as plain values."""
    if not is_dataclass(choice) or isinstance(choice, type):
        return choice
    return {"name": type(choice).__name__} | {
        item.name: _described(getattr(choice, item.name)) for item in fields(choice)
    }


def checked_budget(n: int, **given: float | None) -> Budget:
    """Return the one budget that was given, or say what is wrong with it."""
    chosen = {kind: value for kind, value in given.items() if value is not None}
    names = ", ".join(f"`{kind}`" for kind in given)
    if len(chosen) != 1:
        seen = "none" if not chosen else " and ".join(f"`{kind}={value}`" for kind, value in chosen.items())
        raise InputError(f"give exactly one budget out of {names}; got {seen}.")
    kind, value = next(iter(chosen.items()))
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not math.isfinite(value)
    ):
        raise InputError(f"`{kind}={value!r}` must be a finite number.")
    if kind == "fraction" and not 0 < value < 1:
        raise InputError(f"`fraction={value}` must lie in (0, 1).")
    if kind == "count" and not (value == int(value) and 1 <= value < n):
        raise InputError(f"`count={value}` must be a whole number in 1..{n - 1} for {n:,} examples.")
    if kind in ("epsilon", "relative_epsilon", "max_loss_gap") and not value > 0:
        raise InputError(f"`{kind}={value}` must be positive.")
    return Budget(kind, float(value))  # type: ignore[arg-type]


def checked_settings(
    inputs: Inputs,
    *,
    fraction: float | None = None,
    count: int | None = None,
    epsilon: float | None = None,
    relative_epsilon: float | None = None,
    max_loss_gap: float | None = None,
    class_balance: str | int | None = None,
    pinned: ArrayLike | None = None,
    method: Method | str | None = None,
    formulation: str = "newton",
    coverage: Coverage | str = "auto",
    inverse: Inverse | None = None,
    solver: Solver | None = None,
    seed: int = 0,
    random_draws: int = 5,
    frontier: bool = True,
    memory: int = DEFAULT_MEMORY,
) -> PruneSettings:
    """Check every option once; the rest of the package may rely on them."""
    examples, l2 = inputs.examples, inputs.l2
    budget = checked_budget(
        len(examples),
        fraction=fraction,
        count=count,
        epsilon=epsilon,
        relative_epsilon=relative_epsilon,
        max_loss_gap=max_loss_gap,
    )
    chosen = _checked_method(method, formulation)
    if chosen is not None and solver is not None:
        raise InputError(
            f"`method={chosen.name!r}` searches for nothing, so `solver={solver!r}` has no meaning beside it."
        )
    if not (isinstance(l2, int | float | np.floating) and math.isfinite(l2) and l2 > 0):
        raise InputError(f"`l2={l2}` must be positive: without a penalty the head of separable data has no minimum.")
    if formulation not in ("newton", "paper"):
        raise InputError(f"`formulation={formulation!r}` must be 'newton' or 'paper'.")
    if inverse is not None and not isinstance(inverse, Inverse):
        raise InputError(f"`inverse={inverse!r}` must be an instance such as `leanset.Cholesky()`, or None.")
    if solver is not None and not isinstance(solver, Solver):
        raise InputError(f"`solver={solver!r}` must be an instance such as `leanset.AdaptiveAnnealing()`, or None.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"`seed={seed!r}` must be a whole number of at least 0.")
    for name, value in (("random_draws", random_draws), ("memory", memory)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise InputError(f"`{name}={value!r}` must be a whole number.")
    if random_draws < 2:
        raise InputError(f"`random_draws={random_draws}` must be at least 2, or there is no spread to report.")
    if memory < 2**24:
        raise InputError(f"`memory={memory}` must be at least {2**24} bytes (16 MiB).")
    if formulation == "paper" and budget.kind == "max_loss_gap":
        raise InputError(
            "`max_loss_gap` is not part of the paper's formulation; use `epsilon`, or formulation='newton'."
        )
    if formulation == "paper" and not budget.is_size and not isinstance(solver, SimulatedAnnealing | None):
        raise InputError(
            f"`solver={solver!r}` cannot grow the paper's problem (a); use `SimulatedAnnealing(...)`, or None."
        )
    size = len(examples.classes) * (examples.features.shape[1] + 1)
    if inverse is not None and not isinstance(inverse, Kronecker) and dense_bytes(size) > memory:
        raise InputError(
            f"`inverse={inverse!r}` needs matrices of {size:,} × {size:,} numbers, {dense_bytes(size) / 2**20:,.0f} MiB, but "
            f"`memory={memory}` allows {memory / 2**20:,.0f} MiB; raise it, or leave the choice to leanset with inverse=None."
        )
    if budget.kind == "max_loss_gap" and examples.validation is None:
        raise InputError("`max_loss_gap` is measured on validation data; pass `validation=(val_features, val_labels)`.")
    covered = _checked_coverage(coverage, chosen, formulation, inputs)
    sees = AUM() if covered is not None else chosen
    return PruneSettings(
        budget=budget,
        l2=float(l2),
        standardize=inputs.standardize,
        class_balance=_checked_balance(class_balance, formulation, examples),
        pinned=_checked_pins(pinned, examples),
        method=chosen,
        formulation=formulation,
        coverage=covered,
        inverse=inverse,
        solver=solver,
        seed=int(seed),
        random_draws=int(random_draws),
        frontier=bool(frontier),
        memory=int(memory),
        head_digest=inputs.start_digest,
        recorded_digest=None if sees is None else inputs.recorded_digest(sees),
    )


def _checked_method(method: Method | str | None, formulation: str) -> Method | None:
    if method is None or method == "leanset":
        return None
    if formulation == "paper":
        raise InputError(f"`method={method!r}` and `formulation='paper'` are two ways to choose; give one of them.")
    if isinstance(method, str):
        return method_named(method)
    if not isinstance(method, Method):
        raise InputError(f"`method={method!r}` must be a name or an instance such as `leanset.scores.EL2N()`.")
    return method


def _checked_coverage(
    coverage: Coverage | str, method: Method | None, formulation: str, inputs: Inputs
) -> Coverage | None:
    """Return what to cover: by default the difficulties, where a recorded training tells them."""
    possible = method is None and formulation == "newton"
    if isinstance(coverage, str) and coverage in ("auto", "none"):
        return Coverage() if coverage == "auto" and possible and inputs.recorded.dynamics else None
    if not isinstance(coverage, Coverage):
        raise InputError(f"`coverage={coverage!r}` must be 'auto', 'none' or `leanset.Coverage(...)`.")
    if not possible:
        raise InputError(f"`coverage={coverage!r}` is part of leanset's own search; leave it out beside other methods.")
    if not inputs.recorded.dynamics:
        raise InputError(
            f"`coverage={coverage!r}` needs the dynamics of a training, which tell the difficulty of the examples and were "
            "not recorded; record one (`leanset.torch.train`), or leave the choice to leanset with coverage='auto'."
        )
    return coverage


def constraints_of(examples: Examples, settings: PruneSettings) -> Constraints:
    """Translate the settings into constraints on the rows, and check that a given size is possible under them."""
    balance = settings.class_balance
    constraints = Constraints(
        labels=examples.labels,
        n_classes=len(examples.classes),
        pinned=mask_of(examples.places_of(np.array(settings.pinned, dtype=np.int64)), len(examples)),
        proportional=balance == "proportional",
        least_kept=balance if isinstance(balance, int) else 1,
    )
    if constraints.most == 0:
        raise InputError("nothing can be removed: every row is pinned or is among the last of its class.")
    if settings.budget.is_size:
        constraints.check(settings.budget.size(len(examples)))
    return constraints


def _checked_balance(balance: str | int | None, formulation: str, examples: Examples) -> str | int:
    if balance is None:
        return "none" if formulation == "paper" else "proportional"
    if isinstance(balance, str) and balance in ("proportional", "none"):
        return balance
    smallest = int(examples.class_counts.min())
    if isinstance(balance, int | np.integer) and not isinstance(balance, bool) and 1 <= balance <= smallest:
        return int(balance)
    raise InputError(
        f"`class_balance={balance!r}` must be 'proportional', 'none', or a least number to keep of each class in "
        f"1..{smallest} (the smallest class has {smallest})."
    )


def _checked_pins(pinned: ArrayLike | None, examples: Examples) -> tuple[int, ...]:
    """Return the source row numbers of the pinned examples."""
    if pinned is None:
        return ()
    values, n = np.asarray(pinned), len(examples)
    if values.size == 0:
        return ()
    if values.dtype == bool and values.shape == (n,):
        values = examples.source_rows[values]
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InputError(
            f"`pinned` must be a list of row numbers or a mask of {n:,} booleans; got {values.dtype} {values.shape}."
        )
    outside = examples.places_of(values.astype(np.int64)) < 0
    if outside.any():
        raise InputError(
            f"`pinned` has {int(outside.sum())} rows outside 0..{int(examples.source_rows[-1])}"
            f"{'' if examples.rows is None else ' or left out as unreadable'}; first: {int(values[np.argmax(outside)])}."
        )
    rows: Rows = np.unique(values.astype(np.int64))
    return tuple(rows.tolist())
