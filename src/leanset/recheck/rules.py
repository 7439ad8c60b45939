"""What a run had to keep to: all rows, each once; pins, budget, class balance, and an example of every class."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from leanset.recheck.check import Check
from leanset.recheck.saved import SavedRun

_BUDGETS = (
    *("fraction", "keep", "count", "epsilon", "relative_epsilon", "same_model"),
    *("min_agreement", "max_accuracy_drop", "max_loss_gap"),
)


def is_partition(run: SavedRun) -> Check:
    """Check that the two lists have every row once."""
    rows = np.sort(np.concatenate([run.listed_kept, run.listed_removed]))
    whole = np.array_equal(rows, run.examples.source_rows)
    counts = f"{len(run.listed_kept):,} kept + {len(run.listed_removed):,} removed"
    return Check("partition", whole, f"{counts} of {len(run.examples):,} rows")


def check_rules(run: SavedRun) -> Iterator[Check]:
    """Check what the set had to keep to; it has to be a partition of the rows."""
    certificate, lost = run.certificate, np.intersect1d(run.removed, run.pinned)
    yield Check("pinned rows", len(lost) == 0, f"{len(run.pinned):,} pinned, {len(lost):,} of them removed")
    yield _within_budget(run.settings, certificate)
    yield _balanced(run)
    counts = certificate["n"] == len(run.examples) and certificate["removed"] == len(run.removed)
    yield Check("counts", counts, f"certificate says {certificate['removed']:,} of {certificate['n']:,}")
    yield _classes_stay(run)


def _classes_stay(run: SavedRun) -> Check:
    targets = run.examples.targets
    present = targets.group_sizes > 0
    left = np.bincount(targets.groups[run.kept], minlength=len(present))[present]
    lost = targets.lost(run.kept)
    fine = bool((left > 0).all()) and lost is None
    return Check("classes", fine, lost or f"smallest class or group keeps {int(left.min()):,} examples")


def _balanced(run: SavedRun) -> Check:
    balance, targets, count = run.settings["class_balance"], run.examples.targets, len(run.removed)
    if balance < 1 if isinstance(balance, int) else balance not in ("proportional", "none"):
        return Check("class balance", False, "the settings contain no valid one")
    sizes = targets.group_sizes
    gone = np.bincount(targets.groups[run.removed], minlength=len(sizes))
    least = int((sizes - gone)[sizes > 0].min())
    if isinstance(balance, int):
        return Check("class balance", least >= balance, f"at least {balance} to keep, smallest class keeps {least}")
    off = float(np.abs(gone - count * sizes / len(run.examples)).max()) if count else 0.0
    # Because of pinned rows or its last example, a class may not be able to lose its share.
    strict = balance == "proportional" and not len(run.pinned)
    return Check(
        "class balance", not strict or off < 2, f"{balance}; classes are within {off:.1f} examples of equal shares"
    )


def _within_budget(settings: dict[str, Any], certificate: dict[str, Any]) -> Check:
    budget, n = settings["budget"], certificate["n"]
    kind, value = next(iter(budget.items()), ("", None))
    if len(budget) != 1 or kind not in _BUDGETS or not isinstance(value, int | float) or not 0 <= value < np.inf:
        return Check("budget", False, f"the settings contain no valid budget: {budget!r}")
    if kind == "fraction":
        fine = value <= 1 and certificate["removed"] == max(1, round(value * n))
        return Check("budget", fine, f"fraction {value:g} of {n:,}")
    if kind == "keep":
        kept = value if value >= 1 else max(1, min(n - 1, round(value * n)))
        return Check("budget", n - certificate["removed"] == kept, f"keep {value:g} of {n:,}")
    if kind == "count":
        return Check("budget", certificate["removed"] == value, f"count {value:,.0f}")
    relative = {"relative_epsilon": value, "same_model": 1e-6}
    limit = relative[kind] * certificate["head_norm"] if kind in relative else value
    if settings["formulation"] == "paper":
        predicted = certificate["influence_change"]
        return Check(
            "budget", predicted <= limit * 1.001, f"predicted {predicted:.6g} ≤ {limit:.6g} (as published, unchecked)"
        )
    seen = _limited(kind, certificate)
    if kind == "min_agreement":
        return Check("budget", seen is not None and seen >= limit, f"measured {seen} ≥ {limit:.6g}")
    return Check("budget", seen is not None and seen <= limit, f"measured {seen} ≤ {limit:.6g}")


def _limited(kind: str, certificate: dict[str, Any]) -> float | None:
    """Return what a budget limits, as the certificate states it; None if it does not."""
    if kind == "min_agreement":
        where = "training" if certificate["validation_loss"] is None else "validation"
        return certificate[f"{where}_same_answers"]  # type: ignore[no-any-return]
    if kind == "max_accuracy_drop":
        low = certificate["validation_accuracy_change_low"]
        return None if low is None else -low
    if kind == "max_loss_gap":
        ends = [certificate[f"validation_loss_gap_{end}"] for end in ("low", "high")]
        return None if None in ends else max(map(abs, ends))
    return certificate["refit_change"]  # type: ignore[no-any-return]
