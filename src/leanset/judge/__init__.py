"""What all comparisons share: names of methods, intervals and tests, verdicts in words, tables and files of rows."""

from leanset.judge.folder import SETUP, check_free, check_same_setup, folder_in_use
from leanset.judge.held_out import drawn_aside
from leanset.judge.markdown import fraction_table, markdown_table
from leanset.judge.methods import (
    BALANCED,
    FULL,
    LEANSET,
    PAPER,
    STRATIFIED,
    STRATIFIED_SHOWN,
    UNIFORM,
    WEIGHTED,
    check_methods,
    choice_name,
    on_features,
    prune_options,
    with_baseline,
)
from leanset.judge.row_files import as_dicts, write_rows
from leanset.judge.statistics import (
    Comparison,
    Interval,
    bootstrap_interval,
    holm,
    mean_interval,
    paired,
    paired_by_row,
    spearman,
    top_spearman,
)
from leanset.judge.verdict import LOSS, POINTS, Measure, in_seeds, plus_minus, verdict, written

__all__ = [
    "BALANCED",
    "FULL",
    "LEANSET",
    "LOSS",
    "PAPER",
    "POINTS",
    "SETUP",
    "STRATIFIED",
    "STRATIFIED_SHOWN",
    "UNIFORM",
    "WEIGHTED",
    "Comparison",
    "Interval",
    "Measure",
    "as_dicts",
    "bootstrap_interval",
    "check_free",
    "check_methods",
    "check_same_setup",
    "choice_name",
    "drawn_aside",
    "folder_in_use",
    "fraction_table",
    "holm",
    "in_seeds",
    "markdown_table",
    "mean_interval",
    "on_features",
    "paired",
    "paired_by_row",
    "plus_minus",
    "prune_options",
    "spearman",
    "top_spearman",
    "verdict",
    "with_baseline",
    "write_rows",
    "written",
]
