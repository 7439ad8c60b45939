"""The same rows in every place that leanset can read them from."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from leanset.rows import StoreWriter


def mixture(n=70_000, width=15, classes=8, dtype=np.float32, seed=0):
    """Rows around class means, exact in float16; so many that, with least memory, nothing but vectors is stored."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    features = (rng.normal(size=(n, width)) + 1.5 * rng.normal(size=(classes, width))[labels]).astype(np.float16)
    return features.astype(dtype), labels


def write_npy(folder, features, labels):
    np.save(folder / "features.npy", features)
    np.save(folder / "labels.npy", labels)
    return f"npy:{folder / 'features.npy'}"


def write_npz(folder, features, labels):
    np.savez(folder / "data.npz", features=features, labels=labels)
    return str(folder / "data.npz")


def write_zarr(folder, features, labels):
    columns = {"features": (features.shape[1:], features.dtype), "labels": ((), labels.dtype)}
    writer = StoreWriter.at(str(folder / "data.zarr"), len(labels), columns)
    for start in range(0, len(labels), 1000):
        writer.write(features=features[start : start + 1000], labels=labels[start : start + 1000])
    writer.finish()
    return str(folder / "data.zarr")


def write_parquet(folder, features, labels):
    folder = folder / "tables"
    folder.mkdir()
    for nth, rows in enumerate(np.array_split(np.arange(len(labels)), 3)):
        column = pa.FixedSizeListArray.from_arrays(pa.array(features[rows].reshape(-1)), features.shape[1])
        pq.write_table(
            pa.table({"x": column, "label": labels[rows]}), folder / f"part-{nth}.parquet", row_group_size=4321
        )
    return f"parquet:{folder}"


WRITERS = {"npy": write_npy, "npz": write_npz, "zarr": write_zarr, "parquet": write_parquet}
