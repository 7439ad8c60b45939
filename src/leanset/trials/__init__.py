from leanset.trials.compare import compare, compare_on, forecast_on
from leanset.trials.pages import TextTable, figure_tables
from leanset.trials.split import FeatureSource
from leanset.trials.summary import CompareResult, CompareRow, Figure

__all__ = [
    "CompareResult",
    "CompareRow",
    "FeatureSource",
    "Figure",
    "TextTable",
    "compare",
    "compare_on",
    "figure_tables",
    "forecast_on",
]
