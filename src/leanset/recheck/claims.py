"""What a run folder says that a re-check does not compute again, each with the reason."""

from collections.abc import Iterator

from leanset import runs
from leanset.recheck.check import Check
from leanset.recheck.heads import EXACT
from leanset.recheck.plain import LARGEST_DENSE
from leanset.recheck.saved import SavedRun

_SEARCH = "says how the set was searched for; only the same search again would show it"
_HOW = ("remove", "minimise", "coverage", "solver", "memory", "inverse", "method")
_KEPT_TO = ("budget", "class_balance", "weight_bounds")
_START = "is about the head that the fit started from"


def unchecked(run: SavedRun, *, read: bool, known_head: bool) -> Iterator[Check]:
    """Name the claims of a run that are not computed again.

    Parameters
    ----------
    run : the files of the run
    read : whether the data were read from where `source.json` says
    known_head : whether the head that the fit started from is part of the data
    """
    settings, certificate = run.settings, run.certificate
    yield _said(runs.SETTINGS, _SEARCH, *_HOW)
    yield _said(runs.SETTINGS, "that it was kept to is checked, not that it was asked for", *_KEPT_TO)
    if settings["l2"] is None:
        yield _said(runs.SETTINGS, "was chosen by held-out rows; that choice is not repeated", "l2")
    if settings["recorded_digest"] is not None:
        reason = "that they are records of this network is checked, not that they were used"
        yield _said(runs.SETTINGS, reason, "recorded_digest")
    if settings["head_digest"] is not None:
        yield _said(runs.CERTIFICATE, _START, "start_head_distance")
        if not known_head:
            yield _said(runs.SETTINGS, _START, "head_digest")
    yield _said(runs.CERTIFICATE, "is what the search said of itself", "outcome", "findings", "minimised")
    reason = "is about the run's own computation; only its largest value is checked"
    yield _said(runs.CERTIFICATE, reason, "refit_error_bound", "inverse_residual", "inverse")
    if certificate["inverse_residual"] >= EXACT:
        yield _said(runs.CERTIFICATE, "comes from an inexact inverse", "influence_change")
    yield _said(runs.SELECTION, "comes from heads fitted without each row, which are not fitted again", "suspect")
    if settings["method"] is not None:
        yield _said(runs.SELECTION, "is not computed again", "score")
    size = len(run.examples.classes) * (run.examples.features.shape[1] + 1)
    if certificate["inverse"] != "cholesky" or size > LARGEST_DENSE:
        yield _said(runs.SELECTION, "comes from an inverse that is not computed again", "influence_norm")
    if settings["frontier"]:
        yield _said(runs.FRONTIER, "the sets of its other sizes are not saved, only the answer's own point is")
    if not read:
        yield _said(runs.SOURCE, "the data were not read from there")
        yield _said(runs.SELECTION, "the data that were given may have no names", "name")
    if (run.folder.path / runs.NETWORK).is_dir():
        yield _said(runs.NETWORK, "is not trained again; what the run used of it has the digests in its settings")


def _said(file: str, reason: str, *fields: str) -> Check:
    return Check(f"{file}: {', '.join(fields)}" if fields else file, True, reason, checked=False)
