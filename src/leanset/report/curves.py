import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from leanset._errors import InputError
from leanset.report.canvas import (
    BLACK,
    GREY,
    LETTERS,
    OTHERS,
    STYLES,
    WIDTH,
    Style,
    check_lengths,
    dress,
    look,
    new_figure,
    vector,
)
from leanset.runs import Folder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 6  # curves that a legend inside the axes has room for
_COLUMN = 14  # lines of a legend that are as high as a panel
_MANY_POINTS = 5000  # of a scatter, from which on an SVG holds them as one picture
_HATCHES = ("", "///", "\\\\\\", "xxx", "...")


@dataclass(frozen=True)
class Curve:
    """A line through means, with an interval at each point if `low` and `high` are given (NaN: nothing to draw there)."""

    name: str
    x: ArrayLike
    mean: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    style: Style = "other"

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise InputError(f"`Curve({self.name!r}, style={self.style!r})` must have one of the styles {STYLES}.")
        check_lengths(f"Curve({self.name!r})", x=self.x, mean=self.mean, low=self.low, high=self.high)


@dataclass(frozen=True)
class Panel:
    """One pair of axes: its curves, and a level line (the full data's accuracy, say) if `reference` is given.

    `y_limits` cut off what falls out of sight; without them one collapsed method can squeeze all others together.
    """

    title: str
    xlabel: str
    ylabel: str
    curves: Sequence[Curve]
    reference: float | None = None
    reference_name: str = ""
    log_y: bool = False
    y_limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bars:
    """One bar for each label of a bar chart, with intervals if `low` and `high` are given."""

    name: str
    mean: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None

    def __post_init__(self) -> None:
        check_lengths(f"Bars({self.name!r})", mean=self.mean, low=self.low, high=self.high)


def curves_figure(panels: Sequence[Panel]) -> "Figure":
    """Draw curves, two panels a row; a name looks the same in every panel, in colour and in grey.

    Ours are thick, on top and banded; baselines are black. More than six names, or more than one panel, share a legend
    outside the axes.

    Parameters
    ----------
    panels : at least one

    Examples
    --------
    >>> curve = Curve("leanset", [0.2, 0.4], [0.93, 0.91], [0.92, 0.90], [0.94, 0.92], style="ours")
    >>> figure = curves_figure([Panel("CIFAR-10", "removed", "accuracy", [curve], 0.94, "full data")])
    >>> figure.axes[0].get_title(loc="left")
    'CIFAR-10'
    """
    if not panels:
        raise InputError("`curves_figure(panels=[])` needs at least one panel.")
    looks = _looks(curve for panel in panels for curve in panel.curves)
    columns, rows = min(2, len(panels)), (len(panels) + 1) // 2
    figure = new_figure(WIDTH, (3.6 if columns == 1 else 2.8) * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for axis, panel in zip(axes, panels, strict=False):
        handles |= _draw_panel(axis, panel, looks)
    shown = {name: handles[name] for name in (*looks, *handles)}
    words = {"frameon": False, "fontsize": LETTERS, "handlelength": 3.2}  # long enough for a whole dash pattern
    if len(panels) == 1 and len(looks) <= _FEW:
        axes[0].legend(shown.values(), shown.keys(), **words)
    elif len(panels) == 1:
        figure.legend(shown.values(), shown.keys(), loc="outside right upper", **words)
    elif len(axes) > len(panels):  # the place of a panel is free
        axes[-1].axis("off")
        axes[-1].legend(shown.values(), shown.keys(), loc="center", ncols=1 + (len(shown) > _COLUMN), **words)
    else:
        figure.set_figheight(figure.get_figheight() + 0.2 * -(-len(shown) // 4))
        figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4, columnspacing=1.4, **words)
    return figure


def scatter_figure(
    title: str,
    xlabel: str,
    ylabel: str,
    groups: Mapping[str, tuple[ArrayLike, ArrayLike]],
    diagonal: bool = False,
    log: bool = False,
) -> "Figure":
    """Draw points, a marker and colour for each group, as for predicted against observed.

    Parameters
    ----------
    title, xlabel, ylabel : words of the figure
    groups : x and y of the points of each group
    diagonal : draw the line on which both are equal, on axes of one range
    log : both axes logarithmic; what is not above 0 is left out, like what is not finite, and the legend tells how many

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
    title, xlabel : words of the figure
    labels : one group of bars each, as for methods
    bars : the bars of one colour in all groups, as for data sets; each holds a number for every label
    ours : labels to write in bold
    reference, reference_name : a line across all groups, and what it is

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
            raise InputError(f"`Bars({group.name!r})` holds {len(mean)} numbers for {len(labels)} labels.")
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


def save_figure(figure: "Figure", folder: Path, name: str) -> tuple[Path, Path]:
    """Write a figure as `name.svg` and `name.png` (200 dpi), always the same bytes, and fix its layout.

    Parameters
    ----------
    figure : any matplotlib figure
    folder : made if it is not there
    name : of both files, without an ending

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save_figure(new_figure(2.0, 1.0), Path(folder), "empty")]
    ['empty.svg', 'empty.png']
    """
    from matplotlib import rc_context

    files = Folder(folder)
    metadata: dict[str, dict[str, Any]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # a second layout starts from the first and moves everything a little
    with rc_context({"svg.hashsalt": "leanset"}):  # else every SVG gets random names inside
        for ending, without in metadata.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=ending, dpi=200, metadata=without)
            files.write_bytes(f"{name}.{ending}", buffer.getvalue())
    return files.path / f"{name}.svg", files.path / f"{name}.png"


def _looks(curves: Iterable[Curve]) -> dict[str, dict[str, Any]]:
    """Return how each name is drawn, in the order of the legend: ours, baselines, the others as they come."""
    styles: dict[str, Style] = {}
    for curve in curves:
        if styles.setdefault(curve.name, curve.style) != curve.style:
            raise InputError(f"`Curve({curve.name!r})` has two styles: {styles[curve.name]!r} and {curve.style!r}.")
    found: dict[str, dict[str, Any]] = {}
    for style in STYLES:
        names = [name for name, its in styles.items() if its == style]
        found |= {name: look(style, k) for k, name in enumerate(names)}
    return found


def _draw_panel(axis: "Axes", panel: Panel, looks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Draw one panel and return what its legend shows."""
    if len({curve.name for curve in panel.curves}) < len(panel.curves):
        raise InputError(f"`Panel({panel.title!r})` has two curves of one name.")
    handles: dict[str, Any] = {}
    if panel.log_y:
        axis.set_yscale("log")
    if panel.reference is not None:
        line = axis.axhline(panel.reference, color=GREY, lw=1.2, ls=(0, (1, 2)), zorder=1)
        if panel.reference_name:
            handles[panel.reference_name] = line
    for curve in panel.curves:
        mine, x = looks[curve.name], vector(curve.x)
        (handles[curve.name],) = axis.plot(x, vector(curve.mean), **mine)
        if curve.low is None or curve.high is None:
            continue
        low, high, under = vector(curve.low), vector(curve.high), mine["zorder"] - 0.5
        if curve.style == "ours":  # bands of all would lie over each other
            axis.fill_between(x, low, high, color=mine["color"], alpha=0.2, lw=0, zorder=under)
        else:
            axis.vlines(x, low, high, color=mine["color"], lw=1.1, zorder=under)
    if panel.y_limits is not None:
        axis.set_ylim(*panel.y_limits)
    dress(axis, panel.title, panel.xlabel, panel.ylabel)
    return handles
