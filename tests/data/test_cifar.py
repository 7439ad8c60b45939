import hashlib
import io
import os
import pickle
import tarfile
from dataclasses import replace

import numpy as np
import pytest

from leanset import InputError
from leanset.data import cifar, open_source


def rows(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 3072), dtype=np.uint8)


def cifar10_files():
    batches = {f"data_batch_{nth}": {b"data": rows(4, nth), b"labels": [0, 1, 2, 1]} for nth in range(1, 6)}
    test = {b"data": rows(2, 9), b"labels": [2, 0]}
    files = {**batches, "test_batch": test, "batches.meta": {b"label_names": [b"aeroplane", b"bird", b"cat"]}}
    return {name: pickle.dumps(content, protocol=2) for name, content in files.items()}


def cifar100_files():
    train = {b"data": rows(6), b"fine_labels": [0, 1, 2, 2, 1, 0], b"coarse_labels": [0] * 6}
    test = {b"data": rows(3, 1), b"fine_labels": [1, 1, 0]}
    meta = {b"fine_label_names": [b"apple", b"bee", b"can"], b"coarse_label_names": [b"things"]}
    return {name: pickle.dumps(content) for name, content in {"train": train, "test": test, "meta": meta}.items()}


def release_of(release, files):
    return replace(release, md5={name: hashlib.md5(content).hexdigest() for name, content in files.items()})


def write_folder(path, files):
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        (path / name).write_bytes(content)
    return str(path)


def write_archive(path, members):
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return str(path)


def prefixed(release, files):
    return {f"{release.folder}/{name}": content for name, content in files.items()}


@pytest.mark.parametrize(
    ("release", "files", "train", "test_labels"),
    [
        (cifar._CIFAR10, cifar10_files(), np.concatenate([rows(4, nth) for nth in range(1, 6)]), [2, 0]),
        (cifar._CIFAR100, cifar100_files(), rows(6), [1, 1, 0]),
    ],
    ids=["10", "100"],
)
def test_folder_and_archive_give_what_was_written(tmp_path, release, files, train, test_labels):
    release = release_of(release, files)
    folder = write_folder(tmp_path / release.folder, files)
    archive = write_archive(tmp_path / "a.tar.gz", {**prefixed(release, files), "extra/readme.html": b"hello"})
    for path in (folder, str(tmp_path), archive):
        images = cifar._read(path, release)
        np.testing.assert_array_equal(images.pixels, train.reshape(-1, 3, 32, 32))
        assert images.held_out.labels.tolist() == test_labels
        assert len(images.classes) == 3
    assert images.labels[:3].tolist() == [0, 1, 2]


def test_the_official_digests_are_asked_for(tmp_path):
    folder = write_folder(tmp_path / "c", cifar10_files())
    with pytest.raises(
        InputError, match=r"`data_batch_1` is not the official file.*c99cafc152244af753f735de768cd75f; found"
    ):
        open_source(f"cifar10:{folder}")
    with pytest.raises(InputError, match=r"`train` cannot be read: No such file"):
        open_source(f"cifar100:{folder}")


class Command:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_runs_commands_is_refused_by_the_unpickler(tmp_path, protocol):
    files = {**cifar10_files(), "batches.meta": pickle.dumps(Command(tmp_path / "ran"), protocol=protocol)}
    release = release_of(cifar._CIFAR10, files)  # the digest fits, so only the unpickler stands in the way
    with pytest.raises(InputError, match=r"`batches.meta`: asks for `(posix|nt)\.system`.*not loaded"):
        cifar._read(write_folder(tmp_path / "c", files), release)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"cbuiltins\neval\n.",
        b"cnumpy\nload\n.",
        b"cnumpy.core.multiarray\nscalar\n.",
        b"c_codecs\ndecode\n.",
        b"cnumpy\ndtype.type\n.",
    ],
)
def test_other_names_are_refused(content):
    with pytest.raises(InputError, match="not loaded"):
        cifar._unpickled(content, "x")


def test_arrays_of_objects_and_other_encodings_are_refused():
    with pytest.raises(InputError, match="only unsigned bytes"):
        cifar._unpickled(pickle.dumps({b"data": np.array([None])}, protocol=2), "x")
    with pytest.raises(InputError, match="only latin1"):
        cifar._unpickled(b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x05\x00\x00\x00rot13tR.", "x")


@pytest.mark.parametrize("content", [b"", b"\x80", pickle.dumps([1]), pickle.dumps({b"data": 3})[:-5]])
def test_broken_pickles_are_refused(content):
    with pytest.raises(InputError, match="`x`"):
        cifar._unpickled(content, "x")


@pytest.mark.parametrize(
    ("batch", "match"),
    [
        ({b"data": rows(4), b"labels": [0, 1, 2, 3]}, "row 3 is 3; with 3 class names"),
        ({b"data": rows(4), b"labels": [0, 1]}, "one label for each of the 4 rows"),
        ({b"data": rows(4)[:, :5], b"labels": [0, 1, 2, 1]}, r"`data_batch_2` must contain \(n, 3072\)"),
        ({b"labels": [0, 1, 2, 1]}, r"`data_batch_2` must contain \(n, 3072\)"),
    ],
)
def test_batches_that_are_not_images(tmp_path, batch, match):
    files = {**cifar10_files(), "data_batch_2": pickle.dumps(batch, protocol=2)}
    with pytest.raises(InputError, match=match):
        cifar._read(write_folder(tmp_path / "c", files), release_of(cifar._CIFAR10, files))


def test_archive_members_count_by_their_exact_names_and_nothing_is_extracted(tmp_path):
    files = cifar10_files()
    release = release_of(cifar._CIFAR10, files)
    members = {f"../{name}": content for name, content in prefixed(release, files).items()}
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(InputError, match=r"no `cifar-10-batches-py/batches\.meta` in this archive"):
        cifar._read(write_archive(inside / "a.tar.gz", members), release)
    assert [path.name for path in tmp_path.rglob("*")] == ["inside", "a.tar.gz"]


def test_links_in_an_archive_are_not_followed(tmp_path):
    files = cifar10_files()
    release = release_of(cifar._CIFAR10, files)
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("cifar-10-batches-py/batches.meta")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(InputError, match=r"no `cifar-10-batches-py/batches\.meta`"):
        cifar._read(str(tmp_path / "a.tar.gz"), release)


@pytest.mark.parametrize("name", ["cifar-10-batches-py/data_batch_1", "something/else"])
def test_an_archive_that_unpacks_without_end_is_stopped(tmp_path, monkeypatch, name):
    monkeypatch.setattr(cifar, "_MOST_BYTES", 2**20)
    path = write_archive(tmp_path / "a.tar.gz", {name: bytes(2**21)})
    assert os.path.getsize(path) < 20_000
    with pytest.raises(InputError, match="unpacks to more than 1 MiB"):
        cifar._read(path, cifar._CIFAR10)


def test_an_oversized_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar, "_MOST_BYTES", 2**10)
    with pytest.raises(InputError, match="data_batch_1: is larger than"):
        cifar._read(write_folder(tmp_path / "c", cifar10_files()), cifar._CIFAR10)


@pytest.mark.parametrize("content", [b"", b"plain text", b"\x1f\x8b\x08"])
def test_files_that_are_no_archive(tmp_path, content):
    (tmp_path / "a.tar.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.tar\.gz: "):
        open_source(f"cifar10:{tmp_path / 'a.tar.gz'}")


@pytest.mark.shared
def test_the_real_cifar10(cifar_folder, tmp_path):
    images = open_source(f"cifar10:{cifar_folder}")
    assert images.pixels.shape == (50_000, 3, 32, 32)
    assert images.held_out.pixels.shape == (10_000, 3, 32, 32)
    assert images.classes[:3] == ("airplane", "automobile", "bird")
    assert np.bincount(images.labels).tolist() == [5000] * 10
    assert images.labels[:5].tolist() == [
        6,
        9,
        9,
        4,
        1,
    ]  # frog, truck, truck, deer, automobile: as the dataset's page shows
    # Per-channel means that training recipes for CIFAR-10 state: an oracle for channel order and scale.
    np.testing.assert_allclose(images.pixels.mean(axis=(0, 2, 3)) / 255, [0.4914, 0.4822, 0.4465], atol=1e-4)
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", compresslevel=0) as archive:
        archive.add(cifar_folder, cifar_folder.name)
    assert open_source(f"cifar10:{tmp_path / 'a.tar.gz'}").identity == images.identity
