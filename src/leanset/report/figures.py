from typing import TYPE_CHECKING

import numpy as np

from leanset._arrays import AnyArray, Vector
from leanset.certify import Certificate
from leanset.report.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OURS, _RANDOM, _GREY = "#0b6e4f", "#b5651d", "#888888"


def frontier_figure(points: dict[str, AnyArray], chosen: Certificate | None = None) -> "Figure":
    """Draw the certified change against the fraction removed, beside random removal, and the loss gap if there is one.

    Parameters
    ----------
    points : columns fraction, refit_change, random_refit_change and validation_loss_gap (NaN if unknown)
    chosen : the run's certificate, marked with a ring
    """
    has_gap = bool(np.isfinite(points["validation_loss_gap"]).any())
    figure = new_figure(9.0 if has_gap else 5.0, 3.6)
    axes = figure.subplots(1, 2 if has_gap else 1, squeeze=False)[0]
    left, fractions = axes[0], 100 * points["fraction"]
    left.plot(fractions, points["random_refit_change"], "s--", color=_RANDOM, label="random removal")
    left.plot(fractions, points["refit_change"], "o-", color=_OURS, label="leanset, measured")
    if chosen is not None and chosen.removed:
        at = 100 * chosen.removed / chosen.n
        left.plot([at], [chosen.refit_change], "o", ms=13, mfc="none", color=_OURS, label="this run")
    left.set(xlabel="removed, %", ylabel="change of the head ‖Δθ‖", yscale="log", title="How far the head moves")
    left.legend(frameon=False)
    if has_gap:
        right = axes[1]
        right.axhline(0, color=_GREY, lw=0.8)
        right.plot(fractions, points["validation_loss_gap"], "o-", color=_OURS)
        right.set(
            xlabel="removed, %", ylabel="change of the validation loss", title="Validation loss, after minus before"
        )
    for axis in axes:
        axis.grid(alpha=0.25)
    return figure


def influence_figure(norms: Vector, kept: AnyArray) -> "Figure":
    """Draw the distribution of influence norms of kept and of removed examples, each in percent of its own.

    Parameters
    ----------
    norms : (n,) influence norm of every example
    kept : row numbers of the kept ones
    """
    figure = new_figure(5.0, 3.4)
    axis = figure.subplots()
    is_kept = np.zeros(len(norms), dtype=bool)
    is_kept[kept] = True
    positive = np.maximum(norms, np.finfo(np.float64).tiny)
    edges = np.geomspace(positive.min(), positive.max() * 1.001, 60)
    for mask, name, colour, style in ((is_kept, "kept", _OURS, "-"), (~is_kept, "removed", _RANDOM, "--")):
        share = 100 * np.histogram(positive[mask], edges)[0] / max(1, int(mask.sum()))
        axis.stairs(share, edges, color=colour, ls=style, lw=1.6, label=name)
    axis.set(
        xscale="log", xlabel="influence norm of one example", ylabel="% of kept, % of removed", title="Influence norms"
    )
    axis.legend(frameon=False)
    return figure
