from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from leanset._errors import InputError
from leanset.report.canvas import (
    GREY,
    LETTERS,
    STYLES,
    WIDTH,
    Style,
    check_lengths,
    dress,
    look,
    new_figure,
    vector,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 6  # a legend of up to this many curves fits inside the axes
_COLUMN = 14  # a legend with this many lines is as high as a panel


@dataclass(frozen=True)
class Curve:
    """A line through means, with an interval at each point if `low` and `high` are given. NaN draws nothing."""

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
    """One pair of axes: its curves, and a horizontal line if `reference` is given, such as the accuracy on all data.

    `y_limits` cuts off everything outside. Without it, one very bad method can squeeze all others together.
    """

    title: str
    xlabel: str
    ylabel: str
    curves: Sequence[Curve]
    reference: float | None = None
    reference_name: str = ""
    log_x: bool = False
    log_y: bool = False
    y_limits: tuple[float, float] | None = None


def curves_figure(panels: Sequence[Panel]) -> "Figure":
    """Draw curves, two panels per row. A name looks the same in every panel, and can be told apart without colour.

    "ours" curves are thick, on top, and have a band; "baseline" curves are black. With more than six names, or more than
    one panel, there is one legend outside the axes.

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
    words = {"frameon": False, "fontsize": LETTERS, "handlelength": 3.2}  # long enough to show a whole dash pattern
    if len(panels) == 1 and len(looks) <= _FEW:
        axes[0].legend(shown.values(), shown.keys(), **words)
    elif len(panels) == 1:
        figure.legend(shown.values(), shown.keys(), loc="outside right upper", **words)
    elif len(axes) > len(panels):  # one panel is free, so it takes the legend
        axes[-1].axis("off")
        axes[-1].legend(shown.values(), shown.keys(), loc="center", ncols=1 + (len(shown) > _COLUMN), **words)
    else:
        figure.set_figheight(figure.get_figheight() + 0.2 * -(-len(shown) // 4))
        figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4, columnspacing=1.4, **words)
    return figure


def _looks(curves: Iterable[Curve]) -> dict[str, dict[str, Any]]:
    """Return the look of each name, in the order of the legend: ours, baselines, then the others as given."""
    styles: dict[str, Style] = {}
    for curve in curves:
        if styles.setdefault(curve.name, curve.style) != curve.style:
            raise InputError(
                f"`Curve({curve.name!r})` has two styles, {styles[curve.name]!r} and {curve.style!r}; use one."
            )
    found: dict[str, dict[str, Any]] = {}
    for style in STYLES:
        names = [name for name, its in styles.items() if its == style]
        found |= {name: look(style, k) for k, name in enumerate(names)}
    return found


def _spread_logarithms(axis: "Axes") -> None:
    """Give a panel a logarithmic x axis with plain numbers: 1, 2, 5, 10 and so on."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _draw_panel(axis: "Axes", panel: Panel, looks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Draw one panel and return the entries of its legend."""
    if len({curve.name for curve in panel.curves}) < len(panel.curves):
        raise InputError(f"`Panel({panel.title!r})` has two curves with the same name.")
    handles: dict[str, Any] = {}
    if panel.log_x:
        _spread_logarithms(axis)
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
        if curve.style == "ours":  # bands for all curves would cover each other
            axis.fill_between(x, low, high, color=mine["color"], alpha=0.2, lw=0, zorder=under)
        else:
            axis.vlines(x, low, high, color=mine["color"], lw=1.1, zorder=under)
    if panel.y_limits is not None:
        axis.set_ylim(*panel.y_limits)
    dress(axis, panel.title, panel.xlabel, panel.ylabel)
    return handles
