"""An independent re-check of a saved run. It reads the data with `leanset.data` and imports nothing that it checks."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from leanset import runs
from leanset._arrays import Rows
from leanset._errors import LeansetError, RunFolderError
from leanset._signature import PathLike
from leanset.data import Examples
from leanset.recheck.changes import check_changes
from leanset.recheck.check import Check, alike
from leanset.recheck.claims import Claim, as_checks, unchecked
from leanset.recheck.files import (
    check_agreement,
    check_data,
    check_frontier,
    check_manifest,
    check_signature,
    check_table,
)
from leanset.recheck.plain_losses import PLAIN_LOSSES
from leanset.recheck.random_sets import RandomRule

_TEXTS = (
    *("inverse", "leanset_version", "data_fingerprint", "method", "formulation", "loss", "penalty", "outcome"),
    *("minimised", "findings"),
)
_NUMBERS = (
    *("n", "removed", "influence_change", "newton_change", "refit_change", "random_refit_change_mean"),
    *("random_refit_change_sd", "head_norm", "l2", "inverse_residual", "validation_loss_gap"),
    *("validation_loss_gap_low", "validation_loss_gap_high", "first_order_bound", "second_order_bound", "seed"),
    *("validation_loss", "validation_accuracy", "validation_accuracy_change", "validation_accuracy_change_low"),
    *("validation_accuracy_change_high", "validation_same_answers", "training_loss_gap", "training_same_answers"),
    *("random_validation_loss_gap", "random_validation_accuracy_change", "random_validation_same_answers"),
    *("random_training_loss_gap", "random_training_same_answers", "loss_above_random", "loss_above_random_low"),
    "loss_above_random_high",
    *("refit_error_bound", "start_head_distance", "train_l2", "other_penalty_change", "weighted", "sample_weighted"),
    *("least_weight", "largest_weight", "effective_size", "penalised_bias"),
    *("suspects_among_kept", "suspects_among_removed"),
)

_SETTINGS = (
    *("budget", "pinned", "standardize", "formulation", "class_balance", "l2", "loss", "penalty", "seed", "method"),
    *("bias", "penalise_bias", "weight_bounds", "random_draws", "suspects", "frontier", "weights", "inverse", "C"),
    *("seconds", "proposals", "columns", "head_digest", "recorded_digest", "data_fingerprint", "leanset_version"),
)


def targets_of_run(path: PathLike) -> str:
    """Return the kind of targets of a run."""
    loss = runs.RunFolder(path).read_json(runs.SETTINGS, ("loss",))["loss"]
    if loss not in PLAIN_LOSSES:
        raise RunFolderError(f"{path}: the settings contain an unknown loss, {loss!r}.")
    return PLAIN_LOSSES[loss].targets


def check_run(path: PathLike, examples: Examples, key: PathLike | None = None) -> Iterator[Check]:
    """Re-check a saved run against its data, independently of the code that made it; yield one check at a time.

    Parameters
    ----------
    path : the run folder
    examples : the data of the run
    key : PEM file of the public key that the run has to be signed by; None if it need not be
    """
    folder = runs.RunFolder(path)
    try:
        yield from check_signature(folder, key)
        yield from _checks(folder, examples)
    except LeansetError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The files may come from anyone, and may contain anything in any place.
        yield Check("contents", False, f"no run writes what these files contain ({type(error).__name__}: {error})")


def _checks(folder: runs.RunFolder, examples: Examples) -> Iterator[Check]:
    yield check_manifest(folder)
    kept, removed = folder.read_rows(runs.KEPT), folder.read_rows(runs.REMOVED)
    certificate = folder.read_json(runs.CERTIFICATE, (*_NUMBERS, *_TEXTS))
    settings = folder.read_json(runs.SETTINGS, _SETTINGS)
    everything = examples = examples.counting()
    dropping = folder.has(runs.DROPPED)
    yield alike("dropped rows", dropping, settings["suspects"] == "drop", f"{runs.DROPPED} and {runs.SETTINGS}")
    if dropping:
        dropped = examples.places_of(folder.read_rows(runs.DROPPED))
        examples = examples.take(np.setdiff1d(np.arange(len(examples)), dropped))
    numbers = _numbers_are_numbers(certificate)
    yield numbers
    if not numbers.holds:
        return
    for check in (*check_agreement(settings, certificate), _known_loss(certificate)):
        yield check
        if not check.holds and check.name in ("loss", "penalty", "penalised bias"):
            return
    data = list(check_data(everything, examples, settings, certificate))
    yield from data
    table = folder.read_selection()
    yield from check_frontier(folder, settings, certificate)
    whole = _is_partition(examples, kept, removed)
    yield whole
    if not whole.holds or len(table["row"]) != len(examples):
        yield Check("files", len(table["row"]) == len(examples), f"{runs.SELECTION} has {len(table['row']):,} rows")
        return
    yield from check_table(folder, table, examples, kept, removed, settings, certificate)
    weights = table["weight"][table["kept"]] if certificate["weighted"] or examples.weight is not None else None
    pinned = examples.places_of(np.array(settings["pinned"], dtype=np.int64))
    kept, removed = examples.places_of(kept), examples.places_of(removed)
    lost = np.intersect1d(removed, pinned)
    yield Check("pinned rows", len(lost) == 0, f"{len(settings['pinned']):,} pinned, {len(lost):,} of them removed")
    budget = _within_budget(settings, certificate)
    yield budget
    if not budget.holds:
        return
    yield _balanced(settings["class_balance"], examples, removed, pinned)
    counts = certificate["n"] == len(examples) and certificate["removed"] == len(removed)
    yield Check("counts", counts, f"certificate says {certificate['removed']:,} of {certificate['n']:,}")
    classes = _classes_stay(examples, kept)
    yield classes
    if all(check.holds for check in (*data, classes)) and (weights is None or len(weights) == len(kept)):
        yield from check_changes(
            examples,
            kept,
            RandomRule.of_run(
                examples,
                removed,
                pinned,
                settings["class_balance"],
                next(iter(settings["budget"]), ""),
                certificate["seed"],
                settings["random_draws"],
            ),
            certificate,
            standardize=settings["standardize"],
            bias=settings["bias"],
            weights=weights,
            norms=table["influence_norm"],
            probability=table["label_probability"],
        )
    yield from as_checks(unchecked_of(folder, everything, settings, certificate))


def unchecked_of(
    folder: runs.RunFolder, examples: Examples, settings: dict[str, Any], certificate: dict[str, Any]
) -> list[Claim]:
    """Return what the files of a run say that is not computed again."""
    size = len(examples.classes) * (examples.features.shape[1] + 1)
    read = folder.read_json(runs.SOURCE).get("source") == examples.origin.source
    return unchecked(settings, certificate, size=size, read=read)


def _known_loss(certificate: dict[str, Any]) -> Check:
    known = certificate["loss"] in PLAIN_LOSSES and certificate["penalty"] in ("mean", "total")
    return Check("kind of head", known, f"{certificate['loss']}, penalty {certificate['penalty']}")


def _is_partition(examples: Examples, kept: Rows, removed: Rows) -> Check:
    rows = np.sort(np.concatenate([kept, removed]))
    whole = np.array_equal(rows, examples.source_rows)
    return Check("partition", whole, f"{len(kept):,} kept + {len(removed):,} removed of {len(examples):,} rows")


def _classes_stay(examples: Examples, kept: Rows) -> Check:
    present = examples.targets.group_sizes > 0
    left = np.bincount(examples.targets.groups[kept], minlength=len(present))[present]
    lost = examples.targets.lost(kept)
    fine = bool((left > 0).all()) and lost is None
    return Check("classes", fine, lost or f"smallest class or group keeps {int(left.min()):,} examples")


def _numbers_are_numbers(certificate: dict[str, Any]) -> Check:
    optional = {"start_head_distance", "suspects_among_kept", "suspects_among_removed"}
    optional |= {key for key in certificate if "validation_" in key or key.endswith("_same_answers")}
    wrong = [
        key
        for key, value in certificate.items()
        if key not in _TEXTS and not (_is_of_kind(key, value) or (value is None and key in optional))
    ]
    wrong += [key for key in _TEXTS if key != "findings" and not isinstance(certificate[key], str)]
    return Check(
        "certificate", not wrong, f"not a number or a text: {', '.join(wrong)}" if wrong else "numbers and texts"
    )


def _is_of_kind(key: str, value: Any) -> bool:
    if key in ("weighted", "sample_weighted", "penalised_bias"):
        return isinstance(value, bool)
    if key in ("n", "removed", "seed"):
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _balanced(balance: str | int, examples: Examples, removed: Rows, pinned: Rows) -> Check:
    if balance < 1 if isinstance(balance, int) else balance not in ("proportional", "none"):
        return Check("class balance", False, "the settings contain no valid one")
    valid = removed[(removed >= 0) & (removed < len(examples))]
    sizes = examples.targets.group_sizes
    gone = np.bincount(examples.targets.groups[valid], minlength=len(sizes))
    least = int((sizes - gone)[sizes > 0].min())
    if isinstance(balance, int):
        return Check("class balance", least >= balance, f"at least {balance} to keep, smallest class keeps {least}")
    off = float(np.abs(gone - len(valid) * sizes / len(examples)).max()) if len(valid) else 0.0
    # Because of pinned rows or its last example, a class may not be able to lose its share.
    strict = balance == "proportional" and not len(pinned)
    return Check(
        "class balance", not strict or off < 2, f"{balance}; classes are within {off:.1f} examples of equal shares"
    )


def _within_budget(settings: dict[str, Any], certificate: dict[str, Any]) -> Check:
    budget, n = settings["budget"], certificate["n"]
    if not isinstance(budget, dict) or len(budget) != 1 or not isinstance(next(iter(budget.values())), int | float):
        return Check("budget", False, f"the settings contain no valid budget: {budget!r}")
    kind, value = next(iter(budget.items()))
    if kind == "fraction":
        return Check("budget", certificate["removed"] == max(1, round(value * n)), f"fraction {value:g} of {n:,}")
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
