"""An independent re-check of a saved run. It reads the data with `leanset.data` and imports nothing that it checks."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from leanset import runs
from leanset._errors import RunFolderError
from leanset._kinds import NAMED, NUMBER, TEXT, TRUTH, WHOLE, Kind, optional
from leanset._signature import PathLike
from leanset.data import Examples
from leanset.recheck.changes import check_changes
from leanset.recheck.check import Check, alike
from leanset.recheck.claims import unchecked
from leanset.recheck.files import (
    Records,
    check_agreement,
    check_data,
    check_frontier,
    check_manifest,
    check_records,
    check_signature,
    check_table,
)
from leanset.recheck.plain_losses import PLAIN_LOSSES
from leanset.recheck.rules import check_rules, is_partition
from leanset.recheck.saved import SavedRun

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

_SETTINGS = runs.SETTINGS_KINDS | {
    "random_draws": Kind("a whole number of at least 2", lambda value: WHOLE.fits(value) and value > 1),
    "seed": WHOLE,
    "method": optional(NAMED),
    "frontier": TRUTH,
    "weights": TRUTH,
    "inverse": optional(NAMED),
    "C": optional(NUMBER),
    "seconds": optional(NUMBER),
    "proposals": optional(WHOLE),
    "head_digest": optional(TEXT),
    "recorded_digest": optional(TEXT),
}
_PENALTY = Kind("a number from 0 to 1e300", lambda value: NUMBER.fits(value) and 0 <= value <= 1e300)
_COLUMNS = runs.SELECTION_COLUMNS | {"pinned": "b", "reason": "OU"}
_OF_THE_HEAD = ("loss", "penalty", "penalised bias", "l2", "kind of head")
_BEFORE_A_REFIT = ("data", "classes", "weights", f"files, {runs.KEPT}", f"files, {runs.REMOVED}")


def targets_of_run(path: PathLike) -> str:
    """Return the kind of targets of a run."""
    loss = runs.RunFolder(path).read_json(runs.SETTINGS, ("loss",))["loss"]
    if loss not in PLAIN_LOSSES:
        raise RunFolderError(f"{path}: the settings contain an unknown loss, {loss!r}.")
    return PLAIN_LOSSES[loss].targets


def check_run(
    path: PathLike, examples: Examples, key: PathLike | None = None, records: Records | None = None
) -> Iterator[Check]:
    """Re-check a saved run against its data, independently of the code that made it; yield one check at a time.

    Parameters
    ----------
    path : the run folder
    examples : the data of the run
    key : PEM file of the public key that the run has to be signed by; None if it need not be
    records : the digests that `head_digest` and `recorded_digest` may have, if the data are those of a network
    """
    folder = runs.RunFolder(path)
    yield from check_signature(folder, key)
    yield check_manifest(folder)
    settings = folder.read_json(runs.SETTINGS, _SETTINGS)
    certificate = folder.read_json(runs.CERTIFICATE, (*_NUMBERS, *_TEXTS))
    numbers = _numbers_are_numbers(certificate)
    yield numbers
    if not numbers.holds:
        return
    for check in (*check_agreement(settings, certificate), _known_loss(certificate)):
        yield check
        if not check.holds and check.name in _OF_THE_HEAD:
            return
    everything = examples.counting()
    run = _read(folder, everything, settings, certificate)
    yield _dropped(run, everything)
    data = list(check_data(run, everything))
    yield from data
    yield from check_records(settings, records)
    yield from check_frontier(run)
    whole = is_partition(run)
    yield whole
    rows = len(run.table["row"])
    if not whole.holds or rows != len(run.examples):
        yield Check("files", rows == len(run.examples), f"{runs.SELECTION} has {rows:,} rows")
        return
    rules = [*check_table(run), *check_rules(run)]
    yield from rules
    if all(check.holds for check in (*data, *rules) if check.name in _BEFORE_A_REFIT):
        yield from check_changes(run)
    read = folder.read_json(runs.SOURCE).get("source") == examples.origin.source
    yield from unchecked(run, read=read, known_head="head_digest" in (records or ()))


def _read(
    folder: runs.RunFolder, everything: Examples, settings: dict[str, Any], certificate: dict[str, Any]
) -> SavedRun:
    dropped = everything.places_of(folder.read_rows(runs.DROPPED)) if folder.has(runs.DROPPED) else ()
    left = np.setdiff1d(np.arange(len(everything)), dropped)
    examples = everything.take(left) if len(left) < len(everything) else everything
    kept, removed = folder.read_rows(runs.KEPT), folder.read_rows(runs.REMOVED)
    return SavedRun(folder, settings, certificate, examples, kept, removed, folder.read_table(runs.SELECTION, _COLUMNS))


def _dropped(run: SavedRun, everything: Examples) -> Check:
    """Check that the list of dropped rows is there if it was asked for, and has each of them once and in their order."""
    if (run.settings["suspects"] == "drop") != run.folder.has(runs.DROPPED):
        return Check("dropped rows", False, f"{runs.DROPPED} and {runs.SETTINGS} disagree")
    gone = np.setdiff1d(everything.source_rows, run.examples.source_rows)
    listed = run.folder.read_rows(runs.DROPPED) if run.folder.has(runs.DROPPED) else gone
    return alike("dropped rows", listed, gone, f"{len(gone):,} rows")


def _known_loss(certificate: dict[str, Any]) -> Check:
    known = certificate["loss"] in PLAIN_LOSSES and certificate["penalty"] in ("mean", "total")
    return Check("kind of head", known, f"{certificate['loss']}, penalty {certificate['penalty']}")


def _numbers_are_numbers(certificate: dict[str, Any]) -> Check:
    may_miss = {"start_head_distance", "suspects_among_kept", "suspects_among_removed"}
    may_miss |= {key for key in certificate if "validation_" in key or key.endswith("_same_answers")}
    wrong = [
        key
        for key, value in certificate.items()
        if key != "findings" and not (_kind_of(key).fits(value) or (value is None and key in may_miss))
    ]
    return Check(
        "certificate", not wrong, f"not a number or a text: {', '.join(wrong)}" if wrong else "numbers and texts"
    )


def _kind_of(key: str) -> Kind:
    if key in _TEXTS:
        return TEXT
    if key in ("weighted", "sample_weighted", "penalised_bias"):
        return TRUTH
    if key == "l2":
        return _PENALTY
    return WHOLE if key in ("n", "removed", "seed") else NUMBER
