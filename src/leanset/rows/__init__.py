from leanset.rows.cluster import LOCAL, dask_cluster
from leanset.rows.columns import Column, Derived
from leanset.rows.converted import ConvertedRows
from leanset.rows.dask_rows import DaskRows, is_dask_array
from leanset.rows.engine import computed_by, engine, on_cluster
from leanset.rows.files import FileRows, is_whole_map
from leanset.rows.memory import MemoryRows, as_table
from leanset.rows.parquet_rows import ParquetRows, parquet_rows
from leanset.rows.passes import (
    all_rows,
    blocks_of,
    gathered,
    kept_rows,
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
from leanset.rows.zarr_rows import ZarrRows, is_url, place_of, read_array, refuse_missing_chunks, store_of
from leanset.rows.zarr_writer import StoreWriter, finish_store, has_rows, write_rows

__all__ = [
    "LOCAL",
    "ChosenRows",
    "Column",
    "ConvertedRows",
    "DaskRows",
    "Derived",
    "FileRows",
    "MemoryRows",
    "ParquetRows",
    "RowTable",
    "ScaledRows",
    "StoreWriter",
    "ZarrRows",
    "all_rows",
    "as_table",
    "blocks_of",
    "computed_by",
    "dask_cluster",
    "engine",
    "finish_store",
    "gathered",
    "has_rows",
    "is_dask_array",
    "is_url",
    "is_whole_map",
    "kept_rows",
    "largest_in_rows",
    "map_rows",
    "map_some_rows",
    "on_cluster",
    "parquet_rows",
    "place_of",
    "read_array",
    "refuse_missing_chunks",
    "some_entries",
    "some_rows",
    "store_of",
    "sum_rows",
    "threads_of_pass",
    "watched_by",
    "write_rows",
]
