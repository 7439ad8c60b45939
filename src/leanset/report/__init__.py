"""What people look at: figures, the short table of a run, and the record of the machine it ran on."""

from leanset.report.bars import Bars, bars_figure
from leanset.report.canvas import Style, save_figure
from leanset.report.curves import Curve, Panel, curves_figure
from leanset.report.figures import frontier_figure, influence_figure
from leanset.report.machine import load, machine
from leanset.report.scatter import scatter_figure
from leanset.report.summary import percent, summary_rows, summary_text, verdict

__all__ = [
    "Bars",
    "Curve",
    "Panel",
    "Style",
    "bars_figure",
    "curves_figure",
    "frontier_figure",
    "influence_figure",
    "load",
    "machine",
    "percent",
    "save_figure",
    "scatter_figure",
    "summary_rows",
    "summary_text",
    "verdict",
]
