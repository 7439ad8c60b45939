from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from leanset.report.canvas import GREY, LETTERS, WIDTH, check_lengths, dress, look, new_figure, vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MANY_POINTS = 5000  # a scatter plot with more points is stored as one picture in an SVG


def scatter_figure(
    title: str,
    xlabel: str,
    ylabel: str,
    groups: Mapping[str, tuple[ArrayLike, ArrayLike]],
    diagonal: bool = False,
    log: bool = False,
) -> "Figure":
    """Draw points, with a marker and colour for each group: predicted against observed values, for example.

    Parameters
    ----------
    title, xlabel, ylabel : texts of the figure
    groups : x and y of the points of each group
    diagonal : draw the line x = y, and give both axes the same range
    log : use logarithmic axes. Points ≤ 0 are then left out, as non-finite ones always are; the legend says how many

    Examples
    --------
    >>> figure = scatter_figure("Prediction", "predicted", "observed", {"all": ([1, 2], [1.1, 1.9])}, diagonal=True)
    >>> figure.axes[0].get_xlim() == figure.axes[0].get_ylim()
    True
    """
    figure = new_figure(0.6 * WIDTH, 0.6 * WIDTH)
    axis = figure.subplots()
    for name, (x, y) in groups.items():
        check_lengths(f"scatter_figure(groups={{{name!r}: ...}})", x=x, y=y)
    points = {name: np.stack([vector(x), vector(y)]) for name, (x, y) in groups.items()}
    visible = {name: p[:, (np.isfinite(p) & ((p > 0) | (not log))).all(axis=0)] for name, p in points.items()}
    everything = np.concatenate([np.empty((2, 0)), *visible.values()], axis=1)
    many = everything.shape[1] > 200
    for k, (name, (x, y)) in enumerate(visible.items()):
        hidden = points[name].shape[1] - len(x)
        mine = look("other", k) | {
            "ls": "",
            "ms": 3 if many else 5,
            "markeredgewidth": 0,
            "alpha": 0.5 if many else 0.8,
        }
        label = f"{name} ({hidden} not shown)" if hidden else name
        axis.plot(x, y, label=label, rasterized=everything.shape[1] > _MANY_POINTS, **mine)
    if log:
        axis.set(xscale="log", yscale="log")
    if diagonal and everything.size:
        seen = np.log(everything) if log else everything
        ends = np.array([seen.min(), seen.max()]) + (0.05 * float(np.ptp(seen)) or 0.5) * np.array([-1, 1])
        low, high = (np.exp(ends) if log else ends).tolist()
        axis.plot([low, high], [low, high], color=GREY, lw=1.0, ls="--", zorder=0, label="equal")
        axis.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    dress(axis, title, xlabel, ylabel)
    axis.legend(frameon=False, fontsize=LETTERS, markerscale=1.7 if many else 1.3)
    return figure
