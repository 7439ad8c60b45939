"""Files made to take all memory, all time, or what they may not; and values that are easily read as others."""

import gzip
import io
import json
import os
import struct
import tarfile
import zipfile

import numpy as np
import pytest

from leanset import InputError
from leanset.data import checked_examples, decode, limits, open_source, read_labels
from leanset.data.labels import coded_labels, numbered_labels


@pytest.fixture
def little_memory(monkeypatch):
    """A machine with 1 MiB of free memory."""
    from leanset import _files

    for module in (_files, limits):
        monkeypatch.setattr(module, "free_memory", lambda: 2**20)


def test_an_npz_that_does_not_fit_is_refused_before_it_is_unpacked(tmp_path, little_memory, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", features=np.zeros((2000, 100)), labels=np.arange(2000) % 2)
    assert (tmp_path / "a.npz").stat().st_size < 2**15
    monkeypatch.setattr(np.lib.format, "read_array", None)
    with pytest.raises(InputError, match=r"it unpacks to 2 MiB, more than the 1 MiB of memory that are free"):
        open_source(f"npz:{tmp_path}/a.npz")


def test_features_that_do_not_fit_as_floats_are_refused_before_they_are_converted(little_memory):
    bytes_of = np.zeros((2000, 150), np.uint8)  # 0.3 MB, and 1.5 MB as floats and while looking for NaN
    with pytest.raises(InputError, match=r"`features`: checking it takes 1 MiB, more than the 1 MiB"):
        checked_examples(bytes_of, np.arange(2000) % 2)
    assert len(checked_examples(bytes_of[:500], np.arange(500) % 2)) == 500


def test_an_idx_file_that_does_not_fit_is_refused_by_its_header(tmp_path, little_memory):
    for name, axes, shape in (("images", 3, (2000, 32, 32)), ("labels", 1, (2000,))):
        content = struct.pack(f">HBB{axes}I", 0, 8, axes, *shape) + bytes(int(np.prod(shape)))
        (tmp_path / f"train-{name}-idx{axes}-ubyte.gz").write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match=r"its header claims 2 MiB, more than the 1 MiB"):
        open_source(f"idx:{tmp_path}")


def test_text_that_does_not_fit_as_a_table_is_refused(tmp_path, little_memory):
    (tmp_path / "a.csv").write_text("x,label\n" + ",\n" * 200_000)
    with pytest.raises(InputError, match=r"as a table it takes 3 MiB, more than the 1 MiB"):
        open_source(f"{tmp_path}/a.csv")


def test_a_sparse_file_in_an_archive_is_refused(tmp_path):
    """Its header says that it has a terabyte of zeros; the archive has some hundred bytes."""
    member = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:410] = b"%011o\0%011o\0" % (0, 0)  # one piece of no bytes at the start
    header[483:495] = b"\x80" + (2**40).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    (tmp_path / "c.tar.gz").write_bytes(gzip.compress(bytes(header) + bytes(1024)))
    assert (tmp_path / "c.tar.gz").stat().st_size < 300
    with pytest.raises(InputError, match="is a sparse file"):
        open_source(f"cifar10:{tmp_path}/c.tar.gz")


def many_scans(copies):
    """Return a progressive JPEG whose last scan is repeated."""
    image = pytest.importorskip("PIL.Image")
    buffer = io.BytesIO()
    image.fromarray(np.random.default_rng(0).integers(0, 255, (32, 32, 3), np.uint8)).save(
        buffer, "JPEG", progressive=True
    )
    content = buffer.getvalue()
    last = content.rfind(decode._SCAN)
    return content[:-2] + content[last:-2] * copies + content[-2:]


def test_a_jpeg_of_many_scans_is_refused_before_it_is_decoded():
    assert decode.decoded(io.BytesIO(many_scans(0)), "a.jpg", (32, 32)).shape == (3, 32, 32)
    with pytest.raises(decode.BadImage, match="a JPEG of 410 scans; at most 64"):
        decode.decoded(io.BytesIO(many_scans(400)), "a.jpg", (32, 32))


def test_an_image_that_takes_too_long_is_given_up(monkeypatch):
    image = pytest.importorskip("PIL.Image")
    buffer = io.BytesIO()
    image.fromarray(np.zeros((600, 600, 3), np.uint8)).save(buffer, "BMP")
    clock = iter(range(0, 10**6, 3))  # three seconds between two looks
    monkeypatch.setattr(decode.time, "monotonic", lambda: next(clock))
    with pytest.raises(decode.BadImage, match="takes more than 10 s to decode"):
        decode.decoded(io.BytesIO(buffer.getvalue()), "a.bmp", (8, 8))


@pytest.mark.parametrize("kind", ["npz", "csv", "parquet", "cifar10", "idx", "jsonl"])
def test_pipes_and_devices_are_not_read(tmp_path, kind):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InputError, match="neither a regular file nor a folder"):
            open_source(f"{kind}:{path}")


@pytest.mark.parametrize(
    ("kind", "name"), [("cifar10", "data_batch_1"), ("tiny-imagenet", "wnids.txt"), ("parquet", "a.parquet")]
)
def test_a_pipe_in_a_folder_does_not_block(tmp_path, kind, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError):
        open_source(f"{kind}:{tmp_path}")


HEADERS = {
    "a token error": "{'descr': '<f8', 'shape': (4, 1",
    "very deep": "(" * 5000,
    "a shape of truth values": "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 1), }",
    "a shape beyond all": f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({10**30}, 1), }}",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS.keys())
def test_a_damaged_header_is_named(tmp_path, header):
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(32)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("features.npy", array)
    (tmp_path / "X.npy").write_bytes(array)
    np.save(tmp_path / "y.npy", [0, 1, 0, 1])
    for spec in (f"npz:{tmp_path}/a.npz", f"npy:{tmp_path}"):
        with pytest.raises(InputError, match=r"cannot be read as an np[yz] file"):
            open_source(spec)


@pytest.mark.parametrize(("flag", "method"), [(1, 0), (0, 77), (0, 14)], ids=["encrypted", "unknown method", "LZMA"])
def test_a_damaged_archive_is_named(tmp_path, flag, method):
    np.savez(tmp_path / "a.npz", features=np.zeros((4, 1)), labels=[0, 1, 0, 1])
    content = bytearray((tmp_path / "a.npz").read_bytes())
    for mark, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = content.find(mark)
        while place >= 0:
            content[place + at] |= flag
            content[place + at + 2] = method
            place = content.find(mark, place + 4)
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.npz: cannot be read as an npz file"):
        open_source(f"npz:{tmp_path}/a.npz")


def test_masked_arrays_keep_their_mask():
    values = np.ma.masked_array([[1.0], [2.0], [3.0]], mask=[[0], [1], [0]])
    with pytest.raises(InputError, match="`features` has 1 masked entries"):
        checked_examples(values, [0, 1, 0])
    with pytest.raises(InputError, match="`labels` has 1 masked entries"):
        checked_examples(values.data, np.ma.masked_array([0, 1, 0], mask=[0, 0, 1]))
    with pytest.raises(InputError, match="`labels` has 1 masked entries"):
        checked_examples(values.data, np.ma.masked_array([0.5, 1, 0], mask=[0, 0, 1]), targets="numbers")
    assert len(checked_examples(np.ma.masked_array(values.data), [0, 1, 0])) == 3


@pytest.mark.parametrize("labels", [["a", "a\0", "b"], np.array(["a", "a\0", "b"], dtype=object)], ids=type)
def test_names_that_numpy_would_cut_are_refused(labels):
    with pytest.raises(InputError, match="row 1 ends with a zero character"):
        coded_labels(labels, 3)


def test_large_labels_are_not_turned_into_others(tmp_path):
    large = np.array([0, 2**64 - 1], dtype=np.uint64)
    assert coded_labels(large, 2)[1] == ("0", str(2**64 - 1))
    with pytest.raises(InputError, match=f"row 1 is {2**64 - 1}; with 2 class names"):
        numbered_labels(("a", "b"), large, 2, "labels", "features")
    for beyond in ([0, 1e30], [0, 10**30]):
        with pytest.raises(InputError, match=r"row 1 is 1e\+30|the largest is 1e\+30"):
            coded_labels(beyond, 2)
    np.savez(tmp_path / "noisy.npz", worse=large)
    with pytest.raises(InputError, match=r"below 2\*\*31"):
        read_labels(tmp_path / "noisy.npz", ["worse"])


@pytest.mark.parametrize("name", ["../other/data.arrow", "/etc/passwd", 3])
def test_a_saved_dataset_may_not_name_files_elsewhere(tmp_path, name):
    datasets = pytest.importorskip("datasets")
    for folder in ("mine", "other"):
        datasets.Dataset.from_dict({"features": [[0.0], [1.0]], "label": [0, 1]}).save_to_disk(tmp_path / folder)
    assert len(open_source(f"hf:{tmp_path}/mine")) == 2
    state = json.loads((tmp_path / "mine" / "state.json").read_text())
    (tmp_path / "mine" / "state.json").write_text(json.dumps(state | {"_data_files": [{"filename": name}]}))
    with pytest.raises(InputError, match="names a file that is not in its folder"):
        open_source(f"hf:{tmp_path}/mine")


def test_examples_that_overflow_are_told_to_be_scaled():
    import leanset

    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    features = rng.normal(size=(40, 2)) + labels[:, None]
    options = {"count": 5, "proposals": 1000, "frontier": False}
    with pytest.raises(InputError, match=r"`features` reach .*e\+307 .*`standardize=True`"):
        leanset.prune(1e307 * features, labels, standardize=False, **options)
    with pytest.raises(InputError, match="`val_features` reach"):
        leanset.prune(features, labels, validation=(1e307 * features, labels), **options)
    with pytest.raises(InputError, match="`labels` reach"):
        leanset.prune(features, 1e307 * features[:, 0], loss="squared", **options)
    assert len(leanset.prune(1e307 * features, labels, **options).removed) == 5
