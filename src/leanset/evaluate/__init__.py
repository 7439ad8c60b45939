from leanset.evaluate.compare import Answer, compare
from leanset.evaluate.job import EQUAL_EPOCHS, EQUAL_STEPS, FULL, Job
from leanset.evaluate.markdown import accuracy_table, certificate_table, fraction_table, markdown_table
from leanset.evaluate.panels import accuracy_panel, difference_panel
from leanset.evaluate.question import Question
from leanset.evaluate.row_files import as_dicts, write_rows
from leanset.evaluate.setup import (
    BALANCED,
    LEANSET,
    PAPER,
    STRATIFIED,
    STRATIFIED_SHOWN,
    UNIFORM,
    Setup,
    stratified_places,
)
from leanset.evaluate.statistics import (
    Interval,
    bootstrap_interval,
    mean_interval,
    spearman,
    top_spearman,
)
from leanset.evaluate.study import Study
from leanset.evaluate.summary import Outcome, SummaryRow, compared, methods_in, parts_of, summarise, verdicts

__all__ = [
    "BALANCED",
    "EQUAL_EPOCHS",
    "EQUAL_STEPS",
    "FULL",
    "LEANSET",
    "PAPER",
    "STRATIFIED",
    "STRATIFIED_SHOWN",
    "UNIFORM",
    "Answer",
    "Interval",
    "Job",
    "Outcome",
    "Question",
    "Setup",
    "Study",
    "SummaryRow",
    "accuracy_panel",
    "accuracy_table",
    "as_dicts",
    "bootstrap_interval",
    "certificate_table",
    "compare",
    "compared",
    "difference_panel",
    "fraction_table",
    "markdown_table",
    "mean_interval",
    "methods_in",
    "parts_of",
    "spearman",
    "stratified_places",
    "summarise",
    "top_spearman",
    "verdicts",
    "write_rows",
]
