from collections.abc import Mapping, Sequence

from leanset.certify import Certificate, Finding
from leanset.data import listed
from leanset.report.verdict import certificate_lines, verdict
from leanset.report.words import number, share

Row = tuple[str, str, str]
_URGENT = ("LS108", "LS118", "LS120")  # a bound that is exceeded, a network near chance or hardly trained
_IN_THE_REPORT = ("LS102",)
_MOST_LISTED = 10  # labels or columns, after which the others are counted


def summary_rows(certificate: Certificate) -> list[Row]:
    """Return the main results of a run: what it is, its value, and the value after random removals ("" if none).

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 80)
    >>> result = leanset.prune(rng.normal(size=(80, 3)) + y[:, None], y, count=20, frontier=False)
    >>> summary_rows(result.certificate)[0]
    ('removed', '20 of 80 (25.0 %)', '20')
    """
    c = certificate
    rows = [
        (line.what, f"{line.ours} (95 %: {line.interval})" if line.interval else line.ours, line.random)
        for line in certificate_lines(c)
    ]
    if not c.removed:
        return rows
    if c.suspects_among_kept or c.suspects_among_removed:
        rows.append(("suspect labels", _suspects(c), ""))
    penalty = f"{c.penalty} penalty" if c.penalised_bias else f"{c.penalty} penalty, none on the bias"
    rows.append(("train the head with", f"l2 = {number(c.train_l2, 4)} on the averaged loss ({penalty})", ""))
    return rows


def urgent(certificate: Certificate) -> list[str]:
    """Return the findings that belong before all numbers: what makes the choice itself doubtful.

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> noise = leanset.prune(rng.normal(size=(200, 2)), np.arange(200) % 2, count=20, frontier=False)
    >>> urgent(noise.certificate)[0].split(":")[0]
    'The head is near chance'
    """
    return [finding.text for finding in certificate.findings if _is_urgent(finding, certificate)]


def others(certificate: Certificate) -> list[str]:
    """Return the findings that come after the numbers; the scale of the paper is left to the report."""
    return [
        finding.text
        for finding in certificate.findings
        if finding.code not in _IN_THE_REPORT and not _is_urgent(finding, certificate)
    ]


def _is_urgent(finding: Finding, certificate: Certificate) -> bool:
    return finding.code in _URGENT or (finding.code == "LS105" and certificate.far_from_minimum)


def summary_text(
    certificate: Certificate,
    kept_by_label: Mapping[str, tuple[int, int]],
    columns: Sequence[str] | None,
    used: str = "",
) -> str:
    """Return the verdict, the main results beside random's, and what was kept of each label, as plain text.

    Parameters
    ----------
    certificate : of the run
    kept_by_label : number of kept examples and of all examples of each label; empty where labels are numbers
    columns : names of the features, or None if they have none
    used : which columns of a table were used for what; in place of `columns`, if it is known

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 80)
    >>> result = leanset.prune(rng.normal(size=(80, 3)) + y[:, None], y, count=20, frontier=False)
    >>> print(summary_text(result.certificate, {"no": (31, 41), "yes": (29, 39)}, None).splitlines()[-2])
    kept by label           no: 31 of 41, yes: 29 of 39
    """
    rows = summary_rows(certificate)
    if kept_by_label:
        parts = [f"{label}: {kept:,} of {of:,}" for label, (kept, of) in kept_by_label.items()]
        rows.append(("kept by label", listed(parts, _MOST_LISTED), ""))
    if used:
        rows.append(("columns", used, ""))
    elif columns is not None:
        rows.append((f"{len(columns):,} features", listed(columns, _MOST_LISTED), ""))
    rows.insert(0, ("", "this set", "random sets"))
    # A long list must not push the column of random sets off the screen: only rows that have one are aligned.
    widths = [max(len(row[place]) for row in rows if row[2]) for place in (0, 1)]
    table = [f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip() for row in rows]
    return "\n".join([verdict(certificate).line, *urgent(certificate), "", *table, certificate.outcome])


def _suspects(c: Certificate) -> str:
    return f"{share(c.suspects_among_kept or 0.0)} of the kept, {share(c.suspects_among_removed or 0.0)} of the removed"
