"""What people look at: the report page, figures, the short table of a run, and the record of the machine it ran on."""

from leanset.report.bars import Bars, bars_figure
from leanset.report.canvas import Style, check_figures, save_figure
from leanset.report.curves import Curve, Panel, curves_figure
from leanset.report.figures import frontier_figure, influence_figure
from leanset.report.machine import load, machine
from leanset.report.page import (
    MOST_BYTES,
    Material,
    RunFacts,
    Size,
    StudyPart,
    check_page,
    write_run_page,
    write_study_page,
)
from leanset.report.reasons import reasons
from leanset.report.scatter import scatter_figure
from leanset.report.summary import others, summary_rows, summary_text, urgent
from leanset.report.verdict import verdict
from leanset.report.words import change, number, share

__all__ = [
    "MOST_BYTES",
    "Bars",
    "Curve",
    "Material",
    "Panel",
    "RunFacts",
    "Size",
    "StudyPart",
    "Style",
    "bars_figure",
    "change",
    "check_figures",
    "check_page",
    "curves_figure",
    "frontier_figure",
    "influence_figure",
    "load",
    "machine",
    "number",
    "others",
    "reasons",
    "save_figure",
    "scatter_figure",
    "share",
    "summary_rows",
    "summary_text",
    "urgent",
    "verdict",
    "write_run_page",
    "write_study_page",
]
