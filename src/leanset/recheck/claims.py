"""What a run folder says that a re-check does not compute again, each with the reason."""

from dataclasses import dataclass
from typing import Any

from leanset import runs
from leanset.recheck.check import Check
from leanset.recheck.plain import LARGEST_DENSE

_SEARCH = "says how the set was searched for; only the same search again would show it"
_HOW = ("remove", "minimise", "coverage", "solver", "memory", "inverse", "method")
_KEPT_TO = ("budget", "class_balance", "weight_bounds")


@dataclass(frozen=True)
class Claim:
    """Something that a run folder says and that is not computed again.

    Attributes
    ----------
    file : the file that says it
    names : fields or columns of the file; none for the whole file
    reason : why it is not computed again

    Examples
    --------
    >>> Claim("certificate.json", ("outcome",), "is what the search said of itself").names
    ('outcome',)
    """

    file: str
    names: tuple[str, ...]
    reason: str


def unchecked(settings: dict[str, Any], certificate: dict[str, Any], *, size: int, read: bool) -> list[Claim]:
    """Return the claims of a run that are not computed again.

    Parameters
    ----------
    settings, certificate : as saved
    size : number of weights of the head
    read : whether the data were read from where `source.json` says
    """
    claims = [
        Claim(runs.SETTINGS, _HOW, _SEARCH),
        Claim(runs.SETTINGS, ("recorded_digest",), "is about the records of a training that a search or a method used"),
        Claim(runs.SETTINGS, _KEPT_TO, "that it was kept to is checked, not that it was asked for"),
        Claim(runs.CERTIFICATE, ("outcome", "findings", "minimised"), "is what the search said of itself"),
        Claim(
            runs.CERTIFICATE,
            ("refit_error_bound", "inverse_residual", "inverse"),
            "is about the run's own computation; only its largest value is checked",
        ),
        Claim(runs.SELECTION, ("suspect",), "comes from heads fitted without each row, which are not fitted again"),
    ]
    if settings["frontier"]:
        claims.append(
            Claim(runs.FRONTIER, (), "the sets of its other sizes are not saved, only the answer's own point is")
        )
    if settings["method"] is not None:
        claims.append(Claim(runs.SELECTION, ("score",), "is not computed again"))
    if certificate["inverse"] != "cholesky" or size > LARGEST_DENSE:
        claims.append(Claim(runs.SELECTION, ("influence_norm",), "comes from an inverse that is not computed again"))
    if certificate["inverse_residual"] >= 1e-4:
        claims.append(Claim(runs.CERTIFICATE, ("influence_change",), "comes from an inexact inverse"))
    if settings["l2"] is None:
        claims.append(Claim(runs.SETTINGS, ("l2",), "was chosen by held-out rows; that choice is not repeated"))
    if settings["head_digest"] is not None or certificate["start_head_distance"] is not None:
        claims.append(Claim(runs.CERTIFICATE, ("start_head_distance",), "is about the head that the fit started from"))
        claims.append(Claim(runs.SETTINGS, ("head_digest",), "is about the head that the fit started from"))
    if not read:
        claims.append(Claim(runs.SOURCE, (), "the data were not read from there"))
        claims.append(Claim(runs.SELECTION, ("name",), "the data that were given may have no names"))
    return claims


def as_checks(claims: list[Claim]) -> list[Check]:
    """Return the claims as checks that were not made."""
    return [
        Check(f"{claim.file}{': ' if claim.names else ''}{', '.join(claim.names)}", True, claim.reason, checked=False)
        for claim in claims
    ]
