import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import Vector
from leanset._errors import InputError, missing_extra
from leanset._folder import Folder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style: TypeAlias = Literal["ours", "baseline", "other"]
STYLES: tuple[Style, ...] = get_args(Style)

WIDTH = 7.0  # inches: the text width of a page, so that print does not shrink the letters
LETTERS = 8.5  # points
# Okabe and Ito's palette for colour-blind readers, without its yellow, which is hard to see on paper.
OURS, BLACK, GREY = "#D55E00", "#000000", "#7F7F7F"
OTHERS = ("#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#882255")  # the last two are Paul Tol's
# The lengths 7, 4 and 11 have no common divisor: the first 308 curves look different, the first 11 even in grey.
_MARKERS = "s^DvPX<>hpd"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1.2, 1.2)))


def check_figures() -> None:
    """Raise now what drawing a figure would raise after hours of work: a missing extra."""
    if find_spec("matplotlib") is None:
        raise missing_extra("Drawing figures", "report")


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure; the size is in inches. Raises if matplotlib is missing.

    Examples
    --------
    >>> new_figure(7.0, 3.0).get_size_inches().tolist()
    [7.0, 3.0]
    """
    try:
        from matplotlib.figure import Figure  # no pyplot: leanset must not change a user's plotting state
    except ImportError:
        raise missing_extra("Drawing figures", "report") from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", folder: Path, name: str) -> tuple[Path, Path]:
    """Write a figure as `name.svg` and `name.png` (200 dpi). The same figure always gives the same bytes.

    The layout of the figure is fixed from then on.

    Parameters
    ----------
    figure : any matplotlib figure
    folder : created if it does not exist
    name : name of both files, without an ending

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
    figure.set_layout_engine("none")  # a second layout would start from the first and move everything a little
    with rc_context({"svg.hashsalt": "leanset"}):  # otherwise every SVG has random names inside
        for ending, without in metadata.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=ending, dpi=200, metadata=without)
            files.write_bytes(f"{name}.{ending}", buffer.getvalue())
    return files.path / f"{name}.svg", files.path / f"{name}.png"


def look(style: Style, k: int) -> dict[str, Any]:
    """Return the look of the k-th curve of a style, as arguments of `Axes.plot`.

    Examples
    --------
    >>> look("ours", 0)["linewidth"] > look("other", 0)["linewidth"]
    True
    """
    dashes = _DASHES[k % len(_DASHES)]
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.5}  # separates markers that overlap
    if style == "ours":
        return {"color": OURS, "ls": dashes, "linewidth": 2.4, "marker": "o*"[k % 2], "ms": 6.5, "zorder": 5} | edge
    if style == "baseline":
        dashes = _DASHES[(k + 1) % len(_DASHES)]
        return {"color": BLACK, "ls": dashes, "linewidth": 1.6, "marker": "o*"[k % 2], "ms": 5.0, "zorder": 4} | edge
    marker, colour = _MARKERS[k % len(_MARKERS)], OTHERS[k % len(OTHERS)]
    size = 5.0 if marker in "sD" else 6.5  # the other markers cover less area at the same size
    return {"color": colour, "ls": dashes, "linewidth": 1.2, "marker": marker, "ms": size, "zorder": 3} | edge


def dress(axis: "Axes", title: str, xlabel: str, ylabel: str) -> None:
    """Set title and axis labels, in letters large enough for print, and a faint grid behind everything.

    Examples
    --------
    >>> axis = new_figure(3.0, 2.0).subplots()
    >>> dress(axis, "Accuracy", "removed, %", "%")
    >>> axis.get_xlabel()
    'removed, %'
    """
    axis.set_title(title, loc="left", fontsize=LETTERS + 1, fontweight="bold")
    axis.set_xlabel(xlabel, fontsize=LETTERS)
    axis.set_ylabel(ylabel, fontsize=LETTERS)
    axis.tick_params(which="both", labelsize=LETTERS)
    axis.grid(visible=True, alpha=0.25, lw=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    low, high = axis.get_ylim()
    if axis.get_yscale() == "log" and high < 10 * low:  # less than one power of ten: write plain numbers
        from matplotlib.ticker import FuncFormatter

        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def vector(values: ArrayLike) -> Vector:
    """Return numbers as an array.

    Examples
    --------
    >>> vector([1, 2])
    array([1., 2.])
    """
    return np.asarray(values, dtype=np.float64)


def check_lengths(call: str, **columns: ArrayLike | None) -> None:
    """Raise if columns differ in length, or if an interval has only one end.

    Examples
    --------
    >>> check_lengths("Curve('a')", mean=[1.0, 2.0], low=[0.0, 1.0], high=[2.0, 3.0])
    >>> check_lengths("Curve('a')", mean=[1.0, 2.0], low=[0.0, 1.0], high=None)
    Traceback (most recent call last):
    leanset._errors.InputError: `Curve('a')` needs both `low` and `high`, or neither.
    """
    given = {name: vector(values).shape for name, values in columns.items() if values is not None}
    if len(set(given.values())) > 1 or any(len(shape) != 1 for shape in given.values()):
        raise InputError(f"`{call}` needs lists of the same length; got shapes {given}.")
    if ("low" in given) != ("high" in given):
        raise InputError(f"`{call}` needs both `low` and `high`, or neither.")
