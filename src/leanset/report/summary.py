from leanset.certify import Certificate


def summary_rows(certificate: Certificate) -> list[tuple[str, str]]:
    """Return the main results of a run as (name, value) pairs.

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 80)
    >>> result = leanset.prune(rng.normal(size=(80, 3)) + y[:, None], y, count=20, frontier=False)
    >>> summary_rows(result.certificate)[0]
    ('removed', '20 of 80 (25.0 %)')
    """
    c = certificate
    rows = [
        ("removed", f"{c.removed:,} of {c.n:,} ({c.removed / c.n:.1%})".replace("%", " %")),
        ("kept", f"{c.n - c.removed:,}"),
    ]
    if c.removed == 0:
        return rows
    if c.weighted:
        span = f"{c.least_weight:.2f} to {c.largest_weight:.2f}, worth {c.effective_size:,.0f} evenly weighted ones"
        rows.append(("weights of the kept", span))
    rows += [
        ("head moves by, measured", _relative(c)),
        ("  predicted by a Newton step", f"{c.newton_change:.4g}"),
        ("  random removal, measured", f"{c.random_refit_change_mean:.4g} ± {c.random_refit_change_sd:.2g}"),
        ("  against random", _against_random(c)),
        ("validation loss rises by", _gap(c)),
    ]
    # Without validation data the bound is about the training loss, so it needs a name of its own.
    name = "  at most, proven" if c.validation_loss_gap is not None else "training loss rises by at most, proven"
    rows.append((name, f"{c.first_order_bound + c.second_order_bound:.4f}"))
    rows.append(("train the head with", f"l2 = {c.train_l2:.4g} on the averaged loss  ({c.penalty} penalty)"))
    return rows


def _relative(c: Certificate) -> str:
    if c.refit_change <= c.refit_error_bound:
        return f"less than {c.refit_error_bound:.1g}: the same head, as far as a fit can tell"
    share = f"  ({100 * c.refit_change / c.head_norm:.2f} % of its norm)" if c.head_norm else ""
    return f"{c.refit_change:.4g}{share}"


def _against_random(c: Certificate) -> str:
    if c.refit_change <= c.refit_error_bound:
        return "the head stays where it is"
    if c.refit_change <= c.random_refit_change_mean:
        return f"{c.below_random:.1f} times smaller"
    return f"{1 / c.below_random:.1f} times LARGER: a random set would be better"


def _gap(c: Certificate) -> str:
    if c.validation_loss_gap is None:
        return "unknown: no validation data"
    return (
        f"{c.validation_loss_gap:+.4f}  (95 %: {c.validation_loss_gap_low:+.4f} to {c.validation_loss_gap_high:+.4f})"
    )
