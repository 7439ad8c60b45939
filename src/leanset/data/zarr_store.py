from typing import Any

from leanset._errors import InputError
from leanset.data.examples import Examples
from leanset.data.images import Images
from leanset.data.npz import source_from_arrays
from leanset.data.reading import Reading
from leanset.rows import ZarrRows, place_of, read_array, refuse_missing_chunks, store_of

_TABLES = ("features", "val_features")
_COLUMNS = ("labels", "val_labels", "sample_weight", "val_sample_weight")


def read_zarr(path: str, reading: Reading) -> Images | Examples:
    """Read a Zarr store (version 3) on disk or behind a URL: features and labels, and what an npz file may contain.

    Features beyond the memory of the run are not read, but chunk by chunk in each pass. Chunks with a checksum are compared
    with it whenever they are read.
    """
    store = place_of(path)
    found = store_of(store)
    if not found.complete:
        raise InputError(f"{path}: this store was not finished; run the capture that writes it again, and it goes on.")
    arrays: dict[str, Any] = {}
    for name in (each for each in (*_TABLES, *_COLUMNS) if each in found.arrays):
        if name in _TABLES and found.arrays[name] == 2:
            arrays[name] = ZarrRows.of(store, name)
            continue
        refuse_missing_chunks(store, name)
        arrays[name] = read_array(store, name, slice(0, None))
    return source_from_arrays(path, arrays, reading)
