import csv
import math

import pyarrow.parquet as pq
import pytest

from leanset.judge import as_dicts, write_rows
from tests.evaluate.test_summary import OUTCOMES, ROWS


@pytest.mark.parametrize("rows", [OUTCOMES, as_dicts(ROWS)], ids=["trainings", "summary"])
def test_csv_and_parquet_hold_the_same_rows(tmp_path, rows):
    write_rows(tmp_path / "new", "rows", rows)
    with open(tmp_path / "new" / "rows.csv", newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    table = pq.read_table(tmp_path / "new" / "rows.parquet").to_pylist()
    assert len(read) == len(table) == len(rows)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for text, typed, row in zip(read, table, rows, strict=True):
        assert list(text) == list(typed) == columns
        for key in columns:
            value = row.get(key)
            if isinstance(value, float) and math.isnan(value):
                assert math.isnan(typed[key])
                assert math.isnan(float(text[key]))
            else:
                assert typed[key] == value
                assert text[key] == ("" if value is None else str(value))
