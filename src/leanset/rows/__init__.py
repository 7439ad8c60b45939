from leanset.rows.columns import Column, Derived
from leanset.rows.engine import computed_by
from leanset.rows.memory import MemoryRows, as_table
from leanset.rows.passes import (
    all_rows,
    blocks_of,
    largest_in_rows,
    map_rows,
    map_some_rows,
    some_entries,
    some_rows,
    sum_rows,
    threads_of_pass,
)
from leanset.rows.scaled import ScaledRows
from leanset.rows.table import ChosenRows, RowTable
from leanset.rows.watch import watched_by

__all__ = [
    "ChosenRows",
    "Column",
    "Derived",
    "MemoryRows",
    "RowTable",
    "ScaledRows",
    "all_rows",
    "as_table",
    "blocks_of",
    "computed_by",
    "largest_in_rows",
    "map_rows",
    "map_some_rows",
    "some_entries",
    "some_rows",
    "sum_rows",
    "threads_of_pass",
    "watched_by",
]
