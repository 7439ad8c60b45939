from leanset.report.figures import frontier_figure, influence_figure
from leanset.report.summary import summary_rows

__all__ = ["frontier_figure", "influence_figure", "summary_rows"]
