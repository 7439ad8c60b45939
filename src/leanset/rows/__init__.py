from leanset.rows.memory import MemoryRows
from leanset.rows.passes import largest_in_rows, map_rows, map_some_rows, some_rows, sum_rows, threads_of_pass
from leanset.rows.table import RowTable

__all__ = [
    "MemoryRows",
    "RowTable",
    "largest_in_rows",
    "map_rows",
    "map_some_rows",
    "some_rows",
    "sum_rows",
    "threads_of_pass",
]
