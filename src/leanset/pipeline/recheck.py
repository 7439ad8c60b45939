import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leanset import runs
from leanset._arrays import Rows
from leanset.certify import Certificate, Check, verify_removal
from leanset.data import Examples, checked_examples


def verify(
    path: str | os.PathLike[str],
    features: ArrayLike,
    labels: ArrayLike,
    *,
    validation: tuple[ArrayLike, ArrayLike] | None = None,
) -> list[Check]:
    """Re-check a saved run against its data with code that shares nothing with the search.

    Parameters
    ----------
    path : the run folder
    features, labels, validation : the data that the run was made from

    Returns
    -------
    One `Check` for each statement, with `name`, `holds` and `detail`.

    Examples
    --------
    >>> import tempfile, numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 80)
    >>> features = rng.normal(size=(80, 3)) + labels[:, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = leanset.prune(features, labels, count=20, out=folder, frontier=False)
    ...     all(check.holds for check in leanset.verify(folder, features, labels))
    True
    """
    return list(verify_run(path, checked_examples(features, labels, validation)))


def verify_run(path: str | os.PathLike[str], examples: Examples) -> Iterator[Check]:
    """Re-check a saved run against its data, independently of the code that made it; one finding at a time.

    Parameters
    ----------
    path : the run folder
    examples : the data it was made from
    """
    folder = runs.RunFolder(path)
    kept, removed = folder.read_rows(runs.KEPT), folder.read_rows(runs.REMOVED)
    certificate = folder.read_json(runs.CERTIFICATE, Certificate.keys())
    settings = folder.read_json(runs.SETTINGS, ("budget", "pinned", "standardize", "formulation"))
    numbers = _numbers_are_numbers(certificate)
    yield numbers
    if not numbers.holds:
        return
    yield _table_agrees(folder.read_table(runs.SELECTION), kept)
    lost = np.intersect1d(removed, np.array(settings["pinned"], dtype=np.int64))
    yield Check("pinned rows", len(lost) == 0, f"{len(settings['pinned']):,} pinned, {len(lost):,} of them removed")
    yield _within_budget(settings, certificate)
    yield from verify_removal(examples, kept, removed, certificate, standardize=settings["standardize"])


def _numbers_are_numbers(certificate: dict[str, Any]) -> Check:
    texts = ("inverse", "leanset_version", "data_fingerprint", "formulation", "outcome", "notes")
    optional = {"start_head_distance"} | {key for key in certificate if key.startswith("validation_loss_gap")}
    wrong = [
        key
        for key, value in certificate.items()
        if key not in texts and not (isinstance(value, int | float) or (value is None and key in optional))
    ]
    return Check("certificate", not wrong, f"not a number: {', '.join(wrong)}" if wrong else "every number is one")


def _table_agrees(table: dict[str, Any], kept: Rows) -> Check:
    listed = np.sort(table["row"][table["kept"]])
    agrees = np.array_equal(listed, np.sort(kept))
    return Check(
        "files", bool(agrees), f"{runs.KEPT} and {runs.SELECTION} {'agree' if agrees else 'name different rows'}"
    )


def _within_budget(settings: dict[str, Any], certificate: dict[str, Any]) -> Check:
    (kind, value), n = next(iter(settings["budget"].items())), certificate["n"]
    if kind == "fraction":
        return Check("budget", certificate["removed"] == max(1, round(value * n)), f"fraction {value:g} of {n:,}")
    if kind == "count":
        return Check("budget", certificate["removed"] == value, f"count {value:,.0f}")
    limit = value * certificate["head_norm"] if kind == "relative_epsilon" else value
    if settings["formulation"] == "paper":
        predicted = certificate["influence_change"]
        return Check(
            "budget", predicted <= limit * 1.001, f"predicted {predicted:.6g} ≤ {limit:.6g} (as published, unchecked)"
        )
    seen = certificate["validation_loss_gap" if kind == "max_loss_gap" else "refit_change"]
    return Check("budget", seen <= limit, f"measured {seen:.6g} ≤ {limit:.6g}")
