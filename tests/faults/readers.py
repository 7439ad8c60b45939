"""What leanset reads, each with small sound files to damage. Files are made once, in a process of their own."""

import gzip
import io
import json
import pickle
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

LABELS = np.arange(8) % 2
FEATURES = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
IMAGES = np.random.default_rng(1).integers(0, 255, (8, 6, 5, 3), np.uint8)
FORMATS = {"jpg": "JPEG", "png": "PNG", "bmp": "BMP", "gif": "GIF", "webp": "WEBP", "tif": "TIFF", "ppm": "PPM"}


@dataclass
class Reader:
    """A way to read files.

    Attributes
    ----------
    name : of the reader
    make : writes sound files into a folder
    read : reads them from there
    skipped : files that are not damaged
    """

    name: str
    make: Callable[[Path], None]
    read: Callable[[Path], object]
    skipped: tuple[str, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)

    def remember(self, folder):
        """Remember the sound files."""
        self.files = {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }

    @property
    def damaged(self):
        """The names of the files to damage."""
        return [name for name in self.files if name not in self.skipped]


def make(names, place):
    """Make the files of readers, each in a folder of its own, in another process: a fork does not survive Arrow's threads."""
    code = f"from pathlib import Path; from tests.faults import readers; readers.made({names!r}, Path({str(place)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)


def made(names, place):
    """Make the files of readers."""
    for reader in READERS:
        if reader.name in names:
            (place / reader.name).mkdir()
            reader.make(place / reader.name)


def source(spec, **options):
    """Return a function that reads a source in a folder, on one thread and with all images decoded."""

    def read(folder):
        from leanset._threads import thread_count
        from leanset.data import Images, open_source

        with thread_count(1):
            data = open_source(spec.format(folder), **options)
            return data.pixels[np.arange(len(data))] if isinstance(data, Images) else data.features

    return read


def _npz(folder):
    np.savez(folder / "a.npz", features=FEATURES, labels=LABELS, val_features=FEATURES, val_labels=LABELS)


def _npz_images(folder):
    np.savez_compressed(folder / "a.npz", images=IMAGES, labels=np.array(["a", "b"] * 4))


def _read_within(folder):
    """Pack damaged arrays into a sound archive: otherwise its checksums stop most damages before anything is read."""
    with zipfile.ZipFile(folder / "a.npz", "w") as archive:
        archive.writestr("features.npy", (folder / "X.npy").read_bytes())
        archive.writestr("labels.npy", (folder / "y.npy").read_bytes())
    return source("npz:{}/a.npz")(folder)


def _npy(folder):
    np.save(folder / "X.npy", FEATURES)
    np.save(folder / "y.npy", LABELS)


def _csv(folder):
    lines = [
        f"{x:.3f},{'red' if y else 'blue'},{nth},{y}"
        for nth, (x, y) in enumerate(zip(FEATURES[:, 0], LABELS, strict=True))
    ]
    (folder / "a.csv").write_text("\n".join(["size,colour,id,label", *lines, ""]))


def _jsonl(folder):
    rows = [{"x": float(x[0]), "v": x[1:].tolist(), "label": int(y)} for x, y in zip(FEATURES, LABELS, strict=True)]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))


def _parquet(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = {"features": FEATURES.tolist(), "text": ["a few words"] * 8, "id": np.arange(8), "label": LABELS}
    pq.write_table(pa.table(table), folder / "a.parquet")


def _parquet_images(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    images = [{"bytes": _encoded(image, "PNG"), "path": f"{nth}.png"} for nth, image in enumerate(IMAGES)]
    pq.write_table(pa.table({"image": images, "label": LABELS}), folder / "a.parquet", compression="none")


def _idx(folder):
    _write_idx(folder, "", lambda content: content)


def _idx_gz(folder):
    _write_idx(folder, ".gz", gzip.compress)


def _write_idx(folder, ending, packed):
    for name, array in (("images", IMAGES[..., 0]), ("labels", LABELS.astype(np.uint8))):
        header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
        (folder / f"train-{name}-idx{array.ndim}-ubyte{ending}").write_bytes(packed(header + array.tobytes()))


def _archive(folder):
    with tarfile.open(folder / "c.tar.gz", "w:gz") as archive:
        for name in ("batches.meta", "data_batch_1", "test_batch"):
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = 700
            archive.addfile(member, io.BytesIO(bytes(range(100)) * 7))


def _pickled(folder):
    batch = {b"data": np.zeros((2, 3072), np.uint8), b"labels": [0, 1]}
    (folder / "batch").write_bytes(pickle.dumps(batch, protocol=2))


def _read_pickled(folder):
    from leanset.data.cifar import _unpickled

    return _unpickled((folder / "batch").read_bytes(), "batch")


def _encoded(image, kind):
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind, **({"progressive": True} if kind == "JPEG" else {}))
    return buffer.getvalue()


def _folder(folder):
    for nth, (ending, kind) in enumerate(FORMATS.items()):
        path = folder / "ab"[nth % 2] / f"{nth}.{ending}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_encoded(IMAGES[nth], kind))


def _tiny_imagenet(folder):
    (folder / "wnids.txt").write_text("n01\nn02\n")
    for nth, wnid in enumerate(("n01", "n02")):
        (folder / "train" / wnid / "images").mkdir(parents=True)
        (folder / "train" / wnid / "images" / f"{wnid}_0.JPEG").write_bytes(_encoded(IMAGES[nth], "JPEG"))
    (folder / "val" / "images").mkdir(parents=True)
    (folder / "val" / "images" / "val_0.JPEG").write_bytes(_encoded(IMAGES[2], "JPEG"))
    (folder / "val" / "val_annotations.txt").write_text("val_0.JPEG\tn01\t0\t0\t5\t5\n")


def _hf(folder):
    import datasets

    datasets.Dataset.from_dict({"features": FEATURES.tolist(), "label": LABELS}).save_to_disk(folder / "d")


def _run(folder):
    import leanset

    features = np.random.default_rng(2).normal(size=(20, 2))
    with tempfile.TemporaryDirectory() as place:
        np.savez(Path(place, "a.npz"), features=features, labels=np.arange(20) % 2)
        options = {"count": 4, "l2": 0.1, "proposals": 500, "frontier": True, "random_draws": 2}
        leanset.prune(f"{place}/a.npz", out=folder / "run", threads=1, progress=False, **options)


def _read_run(folder):
    import leanset

    result = leanset.load(folder / "run")
    return result.summary(), result.to_dict(), result.reasons, result.origin.sentence()


def _store(folder):
    from leanset.data import Dynamics
    from leanset.head import HeadStatistics

    record = np.random.default_rng(0).random((3, 2, 8)).astype(np.float32)
    HeadStatistics(
        features=FEATURES,
        labels=LABELS,
        classes=("a", "b"),
        logits=FEATURES[:, :2],
        head=np.zeros((2, 4)),
        weight_decay=1e-3,
        rows=np.arange(8) * 2,
        dynamics=(Dynamics(record[0] > 0.5, *record),),
        gradient_norm=np.ones(8),
    ).save(folder / "head")


def _read_store(folder):
    from leanset.head import HeadStatistics

    return HeadStatistics.load(folder / "head").in_memory().examples()


def _stages(folder):
    from leanset.runs import RunFolder

    run = RunFolder(folder / "run")
    run.open(_IDENTITY)
    run.save_stage("head", theta=np.zeros((2, 4)), l2=np.array(0.1), removed=np.arange(3))


def _read_stages(folder):
    from leanset.runs import RunFolder

    run = RunFolder(folder / "run")
    run.open(_IDENTITY)
    return run.recalled("head", lambda stage: stage["theta"] + float(stage["l2"]))


_IDENTITY = {"budget": {}, "data_fingerprint": "", "leanset_version": ""}


def _checkpoint(folder):
    import torch

    torch.manual_seed(0)
    torch.save({"state_dict": torch.nn.Linear(3, 2).state_dict()}, folder / "a.pt")


def _read_checkpoint(folder):
    import torch

    from leanset.training import load_weights

    model = torch.nn.Linear(3, 2)
    load_weights(model, folder / "a.pt")
    return model


def _rows(folder):
    (folder / "rows.txt").write_text("\n".join(map(str, range(40))))


def _read_rows(folder):
    from leanset.parsing import rows_in_file

    return rows_in_file("pinned")(str(folder / "rows.txt"))


READERS = (
    Reader("npz", _npz, source("npz:{}/a.npz")),
    Reader("npz-within", _npy, _read_within),
    Reader("npz-images", _npz_images, source("npz:{}/a.npz")),
    Reader("npy", _npy, source("npy:{}")),
    Reader("csv", _csv, source("csv:{}/a.csv")),
    Reader("jsonl", _jsonl, source("jsonl:{}/a.jsonl")),
    Reader("parquet", _parquet, source("parquet:{}/a.parquet")),
    Reader("parquet-images", _parquet_images, source("parquet:{}/a.parquet")),
    Reader("idx", _idx, source("idx:{}")),
    Reader("idx-gz", _idx_gz, source("idx:{}")),
    Reader("cifar-archive", _archive, source("cifar10:{}/c.tar.gz")),
    Reader("cifar-pickle", _pickled, _read_pickled),
    Reader("folder", _folder, source("folder:{}", on_bad="skip")),
    Reader("tiny-imagenet", _tiny_imagenet, source("tiny-imagenet:{}")),
    Reader("hf", _hf, source("hf:{}/d")),
    Reader("run", _run, _read_run),
    Reader("head", _store, _read_store),
    Reader("stages", _stages, _read_stages, skipped=("run/stages/settings.json",)),
    Reader("checkpoint", _checkpoint, _read_checkpoint),
    Reader("rows", _rows, _read_rows),
)
