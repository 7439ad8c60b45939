"""An independent re-check of a saved run. It reads the data with `leanset.data` and imports nothing that it checks."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from leanset import runs
from leanset._arrays import Rows
from leanset._errors import RunFolderError
from leanset.data import Examples
from leanset.recheck.checks import Check, check_removal
from leanset.recheck.plain import PLAIN_LOSSES
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


def targets_of_run(path: str | os.PathLike[str]) -> str:
    """Return the kind of targets of a run."""
    loss = runs.RunFolder(path).read_json(runs.SETTINGS, ("loss",))["loss"]
    if loss not in PLAIN_LOSSES:
        raise RunFolderError(f"{path}: the settings contain an unknown loss, {loss!r}.")
    return PLAIN_LOSSES[loss].targets


def check_run(path: str | os.PathLike[str], examples: Examples) -> Iterator[Check]:
    """Re-check a saved run against its data, independently of the code that made it; yield one check at a time.

    Parameters
    ----------
    path : the run folder
    examples : the data of the run
    """
    folder = runs.RunFolder(path)
    kept, removed = folder.read_rows(runs.KEPT), folder.read_rows(runs.REMOVED)
    certificate = folder.read_json(runs.CERTIFICATE, (*_NUMBERS, *_TEXTS))
    settings = folder.read_json(
        runs.SETTINGS,
        (
            *("budget", "pinned", "standardize", "formulation", "class_balance", "l2", "loss", "penalty"),
            *("bias", "penalise_bias", "weight_bounds", "random_draws"),
        ),
    )
    examples = examples.counting()
    if folder.has(runs.DROPPED):
        dropped = examples.places_of(folder.read_rows(runs.DROPPED))
        examples = examples.take(np.setdiff1d(np.arange(len(examples)), dropped))
    numbers = _numbers_are_numbers(certificate)
    yield numbers
    if not numbers.holds:
        return
    for key, setting, known in (
        ("loss", "loss", tuple(PLAIN_LOSSES)),
        ("penalty", "penalty", ("mean", "total")),
        ("penalised_bias", "penalise_bias", (True, False)),
    ):
        same = certificate[key] in known and certificate[key] == settings[setting]
        yield Check(key.replace("_", " "), same, f"settings {settings[setting]}, certificate {certificate[key]}")
        if not same:
            return
    table = folder.read_selection()
    yield _table_agrees(table, kept)
    weights = table["weight"][table["kept"]] if certificate["weighted"] or examples.weight is not None else None
    yield _weights_agree(table, certificate, settings["weight_bounds"], examples)
    pinned = examples.places_of(np.array(settings["pinned"], dtype=np.int64))
    kept, removed = examples.places_of(kept), examples.places_of(removed)
    lost = np.intersect1d(removed, pinned)
    yield Check("pinned rows", len(lost) == 0, f"{len(settings['pinned']):,} pinned, {len(lost):,} of them removed")
    budget = _within_budget(settings, certificate)
    yield budget
    if not budget.holds:
        return
    yield _balanced(settings["class_balance"], examples, removed, pinned)
    yield Check(
        "l2",
        settings["l2"] in (None, certificate["l2"]),  # None: it was chosen by held-out rows
        f"settings {settings['l2'] or 'chosen'}, certificate {certificate['l2']}",
    )
    yield from check_removal(
        examples,
        kept,
        removed,
        certificate,
        standardize=settings["standardize"],
        bias=settings["bias"],
        rule=RandomRule.of_run(
            examples,
            removed,
            pinned,
            settings["class_balance"],
            next(iter(settings["budget"]), ""),
            certificate["seed"],
            settings["random_draws"],
        ),
        weights=weights,
    )


def _numbers_are_numbers(certificate: dict[str, Any]) -> Check:
    optional = {"start_head_distance", "suspects_among_kept", "suspects_among_removed"}
    optional |= {key for key in certificate if "validation_" in key or key.endswith("_same_answers")}
    wrong = [
        key
        for key, value in certificate.items()
        if key not in _TEXTS and not (isinstance(value, int | float) or (value is None and key in optional))
    ]
    return Check("certificate", not wrong, f"not a number: {', '.join(wrong)}" if wrong else "all numbers are valid")


def _table_agrees(table: dict[str, Any], kept: Rows) -> Check:
    listed = np.sort(table["row"][table["kept"]])
    agrees = np.array_equal(listed, np.sort(kept))
    return Check(
        "files", bool(agrees), f"{runs.KEPT} and {runs.SELECTION} {'agree' if agrees else 'contain different rows'}"
    )


def _weights_agree(table: dict[str, Any], certificate: dict[str, Any], bounds: Any, examples: Examples) -> Check:
    """Check the weights of the table against the certificate; sampled examples may have a base weight above 1."""
    given = examples.weight is not None
    if certificate["sample_weighted"] != given:
        return Check("weights", False, f"the data came {'with' if given else 'without'} weights, unlike the run")
    kept, gone = table["weight"][table["kept"]], table["weight"][~table["kept"]]
    own = 1.0 if examples.weight is None else examples.weight[examples.places_of(table["row"][table["kept"]])]
    factors = kept / own
    claimed = [certificate[key] for key in ("least_weight", "largest_weight", "effective_size")]
    seen = [float(kept.min()), float(kept.max()), float(kept.sum() ** 2 / np.sum(kept**2))]
    fine = np.allclose(claimed, seen, rtol=1e-6) and not gone.any() and factors.min() >= bounds[0] * (1 - 1e-9)
    plain = certificate["weighted"] or np.allclose(factors, 1.0, rtol=1e-12)
    return Check("weights", bool(fine and plain), f"kept examples have weights {seen[0]:.4g} to {seen[1]:.4g}")


def _balanced(balance: str | int, examples: Examples, removed: Rows, pinned: Rows) -> Check:
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
