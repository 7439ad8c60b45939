"""The files of a run folder against one another, against the data and against the manifest."""

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from leanset import runs
from leanset._arrays import AnyArray
from leanset._errors import RunFolderError
from leanset._folder import json_safe
from leanset._manifest import digests
from leanset._signature import PathLike, is_signed
from leanset.data import Examples, fingerprint
from leanset.recheck.check import Check, alike
from leanset.recheck.saved import SavedRun

Records = Mapping[str, Collection[str | None]]  # the digests that a setting may have, by its name
_A_RANDOM_SET = "No chosen set did better than a random one"  # how the outcome of such a run begins
_EXACT = ("cholesky", "cg")  # inverses that a run chooses by itself
_INVERSES = {"Cholesky": "cholesky", "ConjugateGradients": "cg", "LiSSA": "lissa", "Kronecker": "kronecker"}
_POINT = ("newton_change", "refit_change", "validation_loss_gap")  # of the frontier, as the certificate states them


def check_manifest(folder: runs.RunFolder) -> Check:
    """Check that every file of the run is as it was when the run ended, and that none was added."""
    if not folder.has(runs.MANIFEST):
        return Check(
            "manifest", False, f"{runs.MANIFEST} is missing; an earlier leanset wrote none: prune again for one"
        )
    recorded = folder.read_json(runs.MANIFEST, ("sha256",))["sha256"]
    if not isinstance(recorded, dict):
        return Check("manifest", False, f"{runs.MANIFEST} contains no digests")
    found = digests(folder.path, runs.OF_A_RUN)
    changed = sorted(name for name in found.keys() | recorded.keys() if found.get(name) != recorded.get(name))
    if not changed:
        return Check("manifest", True, f"{len(found)} files are as the run wrote them")
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return Check("manifest", False, f"changed since the run: {', '.join(changed[:3])}{more}")


def check_signature(folder: runs.RunFolder, key: PathLike | None) -> Iterator[Check]:
    """Check the signature of the manifest; say so if there is one, but no key to check it with."""
    there = folder.has(runs.SIGNATURE)
    if key is None:
        if there:
            yield Check(runs.SIGNATURE, True, "give the public key (`key`) to check the signature", checked=False)
        return
    if not there or not folder.has(runs.MANIFEST):
        yield Check("signature", False, "the run is not signed")
        return
    manifest = (folder.path / runs.MANIFEST).read_bytes()
    fine = is_signed(manifest, folder.read_text(runs.SIGNATURE).strip(), key)
    yield Check("signature", fine, f"{runs.MANIFEST} is {'' if fine else 'not '}signed by the owner of the key")


def check_data(run: SavedRun, everything: Examples) -> Iterator[Check]:
    """Check the fingerprints of all examples, and of those left after `suspects="drop"`."""
    for name, data, said in (
        ("data", run.examples, run.certificate["data_fingerprint"]),
        ("data of the settings", everything, run.settings["data_fingerprint"]),
    ):
        same = fingerprint(data) == said
        yield Check(name, same, "fingerprint matches" if same else f"this is not the data of the run ({said[:12]}…)")
    columns = None if everything.columns is None else list(everything.columns)
    yield alike("columns", run.settings["columns"], columns, "names of the features")


def check_records(settings: dict[str, Any], records: Records | None) -> Iterator[Check]:
    """Check the digests of a network's head and of its records; features come without any."""
    for key, known in ({"recorded_digest": (None,)} if records is None else records).items():
        fine = settings[key] in known
        yield Check(
            key.replace("_", " "), fine, "as the network's files are" if fine else f"of other files: {settings[key]}"
        )


def check_agreement(settings: dict[str, Any], certificate: dict[str, Any]) -> Iterator[Check]:
    """Check what both the settings and the certificate say."""
    for key, setting in (
        *(("seed", "seed"), ("leanset_version", "leanset_version"), ("formulation", "formulation")),
        *(("loss", "loss"), ("penalty", "penalty"), ("penalised_bias", "penalise_bias")),
    ):
        yield alike(key.replace("_", " "), certificate[key], settings[setting], "certificate and settings")
    started = (settings["head_digest"] is None) == (certificate["start_head_distance"] is None)
    yield Check("start", started, f"head given: {settings['head_digest'] is not None}")
    chooser, inverse = settings["method"], settings["inverse"]
    # The name of a method is also in the reason of each row.
    yield Check("method", (chooser is None) == (certificate["method"] == "leanset"), certificate["method"])
    fitting = _EXACT if inverse is None else (_INVERSES.get(str(inverse.get("name"))),)
    yield Check("inverse", certificate["inverse"] in fitting, f"{certificate['inverse']}, settings {inverse or 'any'}")
    unused = {key: settings[key] for key in ("C", "seconds", "proposals") if settings[key] is not None}
    yield Check("unused settings", not unused, f"have values: {unused}" if unused else "are empty")
    yield Check(
        "l2",
        settings["l2"] in (None, certificate["l2"]),  # None: it was chosen by held-out rows
        f"settings {settings['l2'] or 'chosen'}, certificate {certificate['l2']}",
    )
    weighed = settings["weights"] or "same_model" in settings["budget"]
    yield alike("weighted", certificate["weighted"], weighed, "certificate and settings")
    known = settings["suspects"] in ("list", "drop", "ignore")
    yield Check("suspects", known, settings["suspects"])
    looked = settings["suspects"] != "ignore" and certificate["loss"] == "softmax"
    for part in ("kept", "removed"):
        yield alike(f"suspects, {part}", certificate[f"suspects_among_{part}"] is not None, looked, "looked for")


def check_table(run: SavedRun) -> Iterator[Check]:
    """Check the selection table against the data, the lists of rows and the settings."""
    table, examples = run.table, run.examples
    mask = table["kept"]
    yield alike("rows", table["row"], examples.source_rows, f"{runs.SELECTION} has the rows of the data")
    for name, listed, where in ((runs.KEPT, run.listed_kept, mask), (runs.REMOVED, run.listed_removed, ~mask)):
        yield alike(f"files, {name}", listed, table["row"][where], f"{name} and {runs.SELECTION}")
    shown = np.asarray(examples.targets.shown).astype(str)
    yield alike("labels", table["label"].astype(str), shown, f"{runs.SELECTION} and the data")
    pinned = np.isin(table["row"], run.settings["pinned"])
    yield alike("pinned", table["pinned"].astype(bool), pinned, f"{runs.SELECTION} and {runs.SETTINGS}")
    if examples.names is not None:
        seen = table["name"].astype(str) if "name" in table else None
        yield alike("names", seen, np.array(examples.names).astype(str), f"{runs.SELECTION} and the data")
    yield _weights_agree(run)
    for part, where in (("kept", mask), ("removed", ~mask)):
        said, share = run.certificate[f"suspects_among_{part}"], _share(table["suspect"][where])
        yield alike(f"suspects among the {part}", said or 0.0, share, f"certificate and {runs.SELECTION}")
    if run.settings["method"] is None:
        yield Check("scores", bool(np.isnan(table["score"]).all()), "a search gives none")
    yield alike("reasons", table["reason"].astype(str), _reasons(run), "as the rules say")
    source = run.folder.read_json(runs.SOURCE)
    if source.get("source") == examples.origin.source:
        yield alike("source", source, json_safe(examples.origin.to_dict()), "as the data were read")
    for name, where in ((runs.KEPT_CSV, mask), (runs.REMOVED_CSV, ~mask)):
        yield alike(name, _cells(run.folder, name), _rows_of(table, where, source), f"as {runs.SELECTION}")


def _share(flags: AnyArray) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _weights_agree(run: SavedRun) -> Check:
    """Check the weights of the table against the certificate; sampled examples may have a base weight above 1."""
    table, certificate, base = run.table, run.certificate, run.examples.weight
    given, least = base is not None, run.settings["weight_bounds"][0] or 0.0
    if certificate["sample_weighted"] != given:
        return Check("weights", False, f"the data came {'with' if given else 'without'} weights, unlike the run")
    kept, gone = table["weight"][table["kept"]], table["weight"][~table["kept"]]
    claimed = [certificate[key] for key in ("least_weight", "largest_weight", "effective_size")]
    seen = [float(kept.min()), float(kept.max()), float(kept.sum() ** 2 / np.sum(kept**2))]
    factors = kept / (1.0 if base is None else base[table["kept"]])
    fine = np.allclose(claimed, seen, rtol=1e-9, atol=0) and not gone.any() and factors.min() >= least * (1 - 1e-9)
    plain = certificate["weighted"] or np.allclose(factors, 1.0, rtol=1e-12, atol=0)
    return Check("weights", bool(fine and plain), f"kept examples have weights {seen[0]:.4g} to {seen[1]:.4g}")


def _reasons(run: SavedRun) -> AnyArray:
    """Say why each row was kept or removed, by the rules of the documentation."""
    table, certificate, said = run.table, run.certificate, []
    middle = float(np.median(table["influence_norm"]))
    columns = (table[name].tolist() for name in ("kept", "pinned", "influence_norm", "score", "suspect"))
    for kept, pinned, norm, score, suspect in zip(*columns, strict=True):
        if run.settings["method"] is not None:
            reason = f"{certificate['method']} {score:.4g}" if np.isfinite(score) else certificate["method"]
        elif certificate["outcome"].startswith(_A_RANDOM_SET):
            reason = "random"
        elif kept:
            reason = "much influence" if norm > middle else "balance"
        else:
            reason = "cancelled" if norm > middle else "little influence"
        said.append(("pinned" if kept and pinned else reason) + (" (label suspect)" if suspect else ""))
    return np.array(said, dtype=str)


def _cells(folder: runs.RunFolder, name: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(folder.read_text(name)))) or [[]]
    except csv.Error as error:
        raise RunFolderError(f"{folder.path / name}: is not a CSV file ({error}).") from None


def _rows_of(table: dict[str, AnyArray], where: AnyArray, source: dict[str, Any]) -> list[list[str]]:
    names = table.get("name", table["row"])
    columns = (table["row"], names, table["label"], table["weight"], table["reason"])
    header = ["row", "path" if source.get("root") else "id", "label", "weight", "reason"]
    return [header, *(list(map(str, row)) for row in zip(*(column[where].tolist() for column in columns), strict=True))]


def check_frontier(run: SavedRun) -> Iterator[Check]:
    """Check the order and the shares of the frontier's sizes, and the answer's own point, which is in the certificate."""
    header, *lines = _cells(run.folder, runs.FRONTIER)
    if not run.settings["frontier"]:
        yield Check("frontier", not lines, "none was asked for")
        return
    n, removed, where = len(run.examples), run.certificate["removed"], "training"
    if run.certificate["validation_loss"] is not None:
        where = "validation"
    claimed = {key: run.certificate[key] for key in _POINT} | {"same_answers": run.certificate[f"{where}_same_answers"]}
    try:
        points = [dict(zip(header, line, strict=True)) for line in lines]
        sizes, shares = (
            [kind(point[key]) for point in points] for kind, key in ((int, "removed"), (float, "fraction"))
        )
        own = [point for point, size in zip(points, sizes, strict=True) if size == removed]
        seen = {key: float(own[0][key]) if own and own[0][key] else None for key in claimed}
    except (KeyError, ValueError):
        raise RunFolderError(f"{run.folder.path / runs.FRONTIER}: is not a frontier.") from None
    fine = sizes == sorted(set(sizes)) and shares == [size / n for size in sizes] and all(0 < s < n for s in sizes)
    yield Check("sizes of the frontier", fine, f"{len(sizes)} sizes")
    if removed:
        yield alike("frontier at the answer", seen, claimed, "as in the certificate")
