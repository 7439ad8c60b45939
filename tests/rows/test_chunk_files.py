"""Chunks read as files are what Zarr reads, and only the plain kind is."""

import numpy as np
import pytest
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec

from leanset.rows import StoreWriter
from leanset.rows.chunk_files import ChunkFiles

FEATURES = np.random.default_rng(0).normal(size=(1_000, 5))


def written(tmp_path, dtype="float16", **options):
    chosen = {"chunks": (128, 5), "compressors": Crc32cCodec(), "fill_value": 0, **options}
    array = zarr.create_array(tmp_path / "x.zarr", shape=FEATURES.shape, dtype=dtype, **chosen)
    array[:] = FEATURES.astype(dtype)
    return zarr.open_array(tmp_path / "x.zarr", mode="r")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize(
    ("start", "stop"), [(0, 128), (5, 9), (100, 300), (128, 256), (900, 1_000), (0, 1_000), (7, 7)]
)
def test_files_hold_what_zarr_reads(tmp_path, dtype, start, stop):
    array = written(tmp_path, dtype)
    found = ChunkFiles.of(array).read(start, stop)
    np.testing.assert_array_equal(found, array[start:stop])
    assert found.dtype == array.dtype


def test_what_leanset_writes_is_read_as_files(tmp_path):
    columns = {"features": ((5,), np.float16), "labels": ((), np.int64)}
    writer = StoreWriter.at(str(tmp_path / "a.zarr"), len(FEATURES), columns)
    writer.write(features=FEATURES.astype(np.float16), labels=np.arange(1_000))
    writer.finish()
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    np.testing.assert_array_equal(ChunkFiles.of(group["labels"]).read(3, 990), np.arange(3, 990))
    np.testing.assert_array_equal(ChunkFiles.of(group["features"]).read(3, 990), FEATURES[3:990].astype(np.float16))


OTHERS = {
    "compressed": {"compressors": [GzipCodec(), Crc32cCodec()]},
    "without a checksum": {"compressors": None},
    "of some columns": {"chunks": (128, 2)},
    "in shards": {"shards": (256, 5)},
    "big-endian": {"serializer": BytesCodec(endian="big")},
}


@pytest.mark.parametrize("kind", OTHERS)
def test_files_of_another_kind_are_left_to_zarr(tmp_path, kind):
    assert ChunkFiles.of(written(tmp_path, **OTHERS[kind])) is None


def test_a_store_that_is_not_on_disk_is_left_to_zarr():
    array = zarr.create_array(zarr.storage.MemoryStore(), data=FEATURES, chunks=(128, 5), compressors=Crc32cCodec())
    assert ChunkFiles.of(array) is None


@pytest.mark.parametrize("content", [b"", b"abc", b"\0" * 2564])
def test_a_damaged_file_is_an_error(tmp_path, content):
    array = written(tmp_path, dtype="int32")
    (tmp_path / "x.zarr" / "c" / "2" / "0").write_bytes(content)
    with pytest.raises(ValueError, match=r"checksum|bytes|size"):
        ChunkFiles.of(array).read(200, 300)
