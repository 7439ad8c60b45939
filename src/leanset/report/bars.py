from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from leanset._errors import InputError
from leanset.report.canvas import BLACK, LETTERS, OTHERS, WIDTH, check_lengths, dress, new_figure, vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HATCHES = ("", "///", "\\\\\\", "xxx", "...")


@dataclass(frozen=True)
class Bars:
    """One bar for each label of a bar chart, with intervals if `low` and `high` are given."""

    name: str
    mean: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None

    def __post_init__(self) -> None:
        check_lengths(f"Bars({self.name!r})", mean=self.mean, low=self.low, high=self.high)


def bars_figure(
    title: str,
    xlabel: str,
    labels: Sequence[str],
    bars: Sequence[Bars],
    ours: Collection[str] = (),
    reference: float | None = None,
    reference_name: str = "",
) -> "Figure":
    """Draw horizontal bars with intervals, grouped by label, first label on top.

    Parameters
    ----------
    title, xlabel : texts of the figure
    labels : names of the groups of bars, such as methods
    bars : one colour each, such as data sets; each holds one number for every label
    ours : labels to write in bold
    reference, reference_name : a line across all groups, and its name

    Examples
    --------
    >>> kept = Bars("20 % wrong labels", [0.05, 0.2], [0.04, 0.19], [0.06, 0.21])
    >>> figure = bars_figure("Wrong labels kept", "share", ["leanset", "random"], [kept], ours=["leanset"])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['leanset', 'random']
    """
    places, thickness = np.arange(len(labels), dtype=np.float64), 0.8 / max(1, len(bars))
    figure = new_figure(WIDTH, 1.2 + len(labels) * max(0.24, 0.15 * len(bars)))
    axis = figure.subplots()
    for k, group in enumerate(bars):
        mean = vector(group.mean)
        if len(mean) != len(labels):
            raise InputError(
                f"`Bars({group.name!r})` must have {len(labels)} numbers, one for each label; got {len(mean)}."
            )
        at = places + (k - (len(bars) - 1) / 2) * thickness
        colour, hatch = OTHERS[k % 5], _HATCHES[k % 5]
        axis.barh(at, mean, 0.9 * thickness, color=colour, hatch=hatch, edgecolor="white", lw=0, label=group.name)
        if group.low is not None and group.high is not None:
            axis.hlines(at, vector(group.low), vector(group.high), color=BLACK, lw=1.0)
    if reference is not None:
        axis.axvline(reference, color=BLACK, lw=1.0, ls="--", label=reference_name or None)
    axis.set(yticks=places, yticklabels=labels, ylim=(len(labels) - 0.5, -0.5))
    dress(axis, title, xlabel, "")
    axis.grid(visible=False, axis="y")
    for text in axis.get_yticklabels():
        text.set_fontweight("bold" if text.get_text() in ours else "normal")
    handles, names = axis.get_legend_handles_labels()
    if reference is not None and reference_name:  # matplotlib lists lines before bars
        handles, names = [*handles[1:], handles[0]], [*names[1:], names[0]]
    if len(names) > 1:
        figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False, fontsize=LETTERS)
    return figure
