"""The picture of the growth benchmark: time and memory, in logarithmic scales, with fitted lines."""

import io
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._record import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOK = {"font.size": 10, "axes.titlesize": 11, "legend.fontsize": 9, "svg.hashsalt": "leanset", "savefig.dpi": 200}
MARKS = {"cholesky": ("o", "#0b3c6f"), "cg": ("^", "#b34700"), "kronecker": ("^", "#b34700")}
AXES = {
    "examples": "examples",
    "head_size": "size of the head, C·D",
    "seconds": "seconds",
    "peak_gb": "peak memory, GB",
}
CURVES = {"cholesky": "exact inverse", "cg": "Kronecker search", "kronecker": "Kronecker search"}


def drawing(by_rows: list[Row], by_head: list[Row], exponents: list[Row]) -> dict[str, bytes]:
    """Return the picture as growth.svg and growth.png."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(LOOK):
        figure, panels = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained", sharex="col")
        for column, (rows, against) in enumerate(((by_rows, "examples"), (by_head, "head_size"))):
            for line, quantity in enumerate(("seconds", "peak_gb")):
                fits = [fit for fit in exponents if (fit["of"], fit["in"]) == (quantity, against)]
                _panel(panels[line, column], rows, against, quantity, fits)
        panels[0, 0].set_title(f"{by_rows[0]['features']} features, {by_rows[0]['classes']} classes")
        panels[0, 1].set_title(f"{by_head[0]['examples']:,} examples")
        files = {f"growth.{kind}": _saved(figure, kind) for kind in ("svg", "png")}
        plt.close(figure)
    return files


def head_drawing(rows: list[Row], exponents: list[Row]) -> dict[str, bytes]:
    """Return the picture of the growth with the head as head_growth.svg and head_growth.png."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(LOOK):
        figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        for axes, quantity in zip(panels, ("seconds", "peak_gb"), strict=True):
            _panel(axes, rows, "head_size", quantity, [fit for fit in exponents if fit["of"] == quantity])
        files = {f"head_growth.{kind}": _saved(figure, kind) for kind in ("svg", "png")}
        plt.close(figure)
    return files


def _panel(axes: "Axes", rows: list[Row], against: str, quantity: str, fits: list[Row]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    slopes = {fit["inverse"]: fit for fit in fits}
    for name in dict.fromkeys(row["inverse"] for row in rows):
        same = sorted((row[against], row[quantity]) for row in rows if row["inverse"] == name)
        x, y = np.array(same).T
        mark, colour = MARKS[name]
        label = CURVES[name]
        if name in slopes:
            fit = slopes[name]
            label += f", slope {fit['exponent']:.2f}"
            axes.plot(x, fit["factor"] * x ** fit["exponent"], "--", color=colour, linewidth=1.2)
        axes.plot(x, y, mark, color=colour, markersize=7, label=label)
    axes.set(xscale="log", yscale="log", ylabel=AXES[quantity])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axis.set_minor_formatter(NullFormatter())
    if quantity == "peak_gb":
        axes.set_xlabel(AXES[against])
    axes.grid(which="major", color="#d0d0d0", linewidth=0.6)
    axes.legend(loc="upper left")


def _saved(figure: "object", kind: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})  # type: ignore[attr-defined]
    return buffer.getvalue()
