from leanset.report.curves import Bars, Curve, Panel, bars_figure, curves_figure, save_figure, scatter_figure
from leanset.report.figures import frontier_figure, influence_figure
from leanset.report.summary import summary_rows

__all__ = [
    "Bars",
    "Curve",
    "Panel",
    "bars_figure",
    "curves_figure",
    "frontier_figure",
    "influence_figure",
    "save_figure",
    "scatter_figure",
    "summary_rows",
]
