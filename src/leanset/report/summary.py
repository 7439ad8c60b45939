from collections.abc import Mapping, Sequence

from leanset.certify import Certificate

Row = tuple[str, str, str]
_MOST_LISTED = 10  # labels or columns, after which the others are counted


def verdict(certificate: Certificate) -> str:
    """Say in one sentence what the removal does, beside random removals; the first line of a summary.

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 80)
    >>> result = leanset.prune(rng.normal(size=(80, 3)) + y[:, None], y, count=20, frontier=False)
    >>> verdict(result.certificate).split(":")[0]
    '25.0 % removed'
    """
    c = certificate
    if c.removed == 0:
        return "Nothing removed."
    what, where = f"{percent(c.removed / c.n)} removed", _judged_on(c)
    if c.refit_change <= c.refit_error_bound:
        return f"{what}: the same model, as far as a fit can tell."
    if c.loss_above_random_low > 0 and _rise(c) > 0:
        return (
            f"{what}: WORSE than a random removal, whose {where} loss is {c.loss_above_random:.4f} lower. Remove fewer "
            "examples, or let leanset choose (no `method`, no `minimise`)."
        )
    if c.loss_above_random_low > 0:
        return (
            f"{what}: the model stays, but a random removal lowers its {where} loss further, by {c.loss_above_random:.4f}: the "
            f"model overfits at l2 = {c.l2:.2g}. Raise l2, or leave it out to have it chosen."
        )
    return f"{what}: {_stays(c, where)}{_beside_random(c)}."


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
    rows = [("removed", f"{c.removed:,} of {c.n:,} ({percent(c.removed / c.n)})", f"{c.removed:,}")]
    if c.removed == 0:
        return rows
    if c.weighted:
        span = f"{c.least_weight:.2f} to {c.largest_weight:.2f}, worth {c.effective_size:,.0f} even ones"
        rows.append(("weights of the kept", span, f"{c.n / (c.n - c.removed):.3g}"))
    if c.validation_loss is not None:
        rows += _answers("validation", c.validation_same_answers, c.random_validation_same_answers)
        rows += _accuracy(c)
        rows.append(("validation loss", _loss(c), f"{c.random_validation_loss_gap:+.4f}"))
    rows += _answers("training", c.training_same_answers, c.random_training_same_answers)
    if c.validation_loss is None:
        rows.append(("training loss", f"{c.training_loss_gap:+.4f}", f"{c.random_training_loss_gap:+.4f}"))
    if c.suspects_among_kept is not None and (c.suspects_among_kept or c.suspects_among_removed):
        rows.append(("labels probably wrong", _suspects(c), ""))
    rows.append(("head moves by ‖Δθ‖", _moved(c), f"{c.random_refit_change_mean:.4g} ± {c.random_refit_change_sd:.2g}"))
    penalty = f"{c.penalty} penalty" if c.penalised_bias else f"{c.penalty} penalty, none on the bias"
    rows.append(("train the head with", f"l2 = {c.train_l2:.4g} on the averaged loss ({penalty})", ""))
    return rows


def summary_text(
    certificate: Certificate, kept_by_label: Mapping[str, tuple[int, int]], columns: Sequence[str] | None
) -> str:
    """Return the verdict, the main results beside random's, and what was kept of each label, as plain text.

    Parameters
    ----------
    certificate : of the run
    kept_by_label : number of kept examples and of all examples of each label; empty where labels are numbers
    columns : names of the features, or None if they have none

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
        rows.append(("kept by label", _listed(parts), ""))
    if columns is not None:
        rows.append((f"{len(columns):,} features", _listed(columns), ""))
    rows.insert(0, ("", "this set", "random sets"))
    # A long list must not push the column of random sets off the screen: only rows that have one are aligned.
    widths = [max(len(row[place]) for row in rows if row[2]) for place in (0, 1)]
    table = [f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip() for row in rows]
    return "\n".join([verdict(certificate), "", *table, certificate.outcome])


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def percent(share: float) -> str:
    """Return a share in percent, without rounding up to 100 what is less.

    Examples
    --------
    >>> percent(0.25), percent(0.99996), percent(1.0)
    ('25.0 %', '99.99 %', '100 %')
    """
    if share == 1.0:
        return "100 %"
    near = share > 0.99
    return f"{min(100 * share, 99.99 if near else 100.0):.{2 if near else 1}f} %"


def _judged_on(c: Certificate) -> str:
    return "training" if c.validation_loss is None else "validation"


def _rise(c: Certificate) -> float:
    return c.training_loss_gap if c.validation_loss_gap_high is None else c.validation_loss_gap_high


def _stays(c: Certificate, where: str) -> str:
    if c.same_answers is not None:
        return f"{percent(c.same_answers)} of the {where} answers stay the same"
    gap = c.training_loss_gap if c.validation_loss_gap is None else c.validation_loss_gap
    return f"the {where} loss changes by {gap:+.4g}"


def _beside_random(c: Certificate) -> str:
    """Say "better than random" only if that holds for the loss and for the answers."""
    answers = c.same_answers is None or c.same_answers >= (c.random_same_answers or 0.0)
    known = "" if c.random_same_answers is None else f" ({percent(c.random_same_answers)} after a random removal)"
    if c.loss_above_random_high < 0 and answers:
        return f"{known}; better than random"
    return f"{known}; no different from random as far as the loss can tell"


def _answers(where: str, same: float | None, random: float | None) -> list[Row]:
    if same is None or random is None:
        return []
    return [(f"same answers, {where}", percent(same), percent(random))]


def _accuracy(c: Certificate) -> list[Row]:
    if c.validation_accuracy is None or c.validation_accuracy_change is None:
        return []
    after = c.validation_accuracy + c.validation_accuracy_change
    low, high = c.validation_accuracy_change_low, c.validation_accuracy_change_high
    span = "" if low is None or high is None else f", 95 %: {100 * low:+.2f} to {100 * high:+.2f}"
    change = f"({100 * c.validation_accuracy_change:+.2f}{span})"
    random = 100 * (c.random_validation_accuracy_change or 0.0)
    return [
        ("validation accuracy", f"{100 * c.validation_accuracy:.2f} → {100 * after:.2f} % {change}", f"{random:+.2f}")
    ]


def _loss(c: Certificate) -> str:
    assert c.validation_loss is not None  # the caller checks that there is validation data
    assert c.validation_loss_gap is not None
    low, high = c.validation_loss_gap_low, c.validation_loss_gap_high
    span = "" if low is None or high is None else f", 95 %: {low:+.4f} to {high:+.4f}"
    after = c.validation_loss + c.validation_loss_gap
    return f"{c.validation_loss:.4f} → {after:.4f} ({c.validation_loss_gap:+.4f}{span})"


def _suspects(c: Certificate) -> str:
    return f"{percent(c.suspects_among_kept or 0.0)} of the kept, {percent(c.suspects_among_removed or 0.0)} of the removed"


def _moved(c: Certificate) -> str:
    if c.refit_change <= c.refit_error_bound:
        return f"less than {c.refit_error_bound:.1g}"
    share = f" ({100 * c.refit_change / c.head_norm:.2f} % of its norm)" if c.head_norm else ""
    return f"{c.refit_change:.4g}{share}"
