"""Every field and every file of a run folder changed, one at a time: `verify` notices, or says that it does not check it.

Each change is tried twice: as it is, and with the manifest brought in line, as somebody would who knows of it.
"""

import argparse
import csv
import io
import json
import shutil
import sys
import tempfile
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import leanset
from leanset._manifest import digests
from leanset.data import Dynamics
from leanset.head import HeadStatistics
from leanset.runs import MANIFEST, OF_A_RUN


@dataclass(frozen=True)
class Forgery:
    """One change of a file: its new content, and the field or column that it changes."""

    file: str
    field: str
    what: str
    content: bytes | None


def other_values(value):
    """Return values that are near one or of another kind, as somebody might put in its place."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [value + 1, -1, None]
    if isinstance(value, float):
        near, half = value * 1.02 + (value == 0) * 1e-3, value * 0.5 + (value == 0)
        return [near, half, -1.0, 1e308, float("inf"), float("nan"), None]
    if isinstance(value, str):
        return [f"{value}x", ""] if value else ["x"]
    if isinstance(value, list):
        return [[*value, 1]] if not value else [value[1:], [*value[:-1], *other_values(value[-1])[:1]]]
    if isinstance(value, dict):
        return [value | {key: other} for key, each in value.items() for other in other_values(each)[:2]]
    return [1]


def in_json(folder, file):
    values = json.loads((folder / file).read_text())
    accuracy = values.get("refit_error_bound", 0.0)  # a number says nothing beyond it
    for field, value in values.items():
        for other in other_values(value):
            if isinstance(value, float) and isinstance(other, float) and abs(other - value) <= accuracy:
                continue
            content = json.dumps(values | {field: other}).encode()
            yield Forgery(file, field, f"{field}: {str(value)[:40]} -> {str(other)[:40]}", content)
        fewer = {key: each for key, each in values.items() if key != field}
        yield Forgery(file, field, f"without {field}", json.dumps(fewer).encode())


def in_lines(folder, file):
    lines = (folder / file).read_text().splitlines()
    swapped = [lines[1], lines[0], *lines[2:]]
    for what, changed in (
        ("a row less", lines[1:]),
        ("another row", ["999999", *lines[1:]]),
        ("another order", swapped),
        ("a row twice", [lines[0], *lines]),
    ):
        yield Forgery(file, "", what, "\n".join([*changed, ""]).encode())


def in_csv(folder, file):
    header, *lines = csv.reader(io.StringIO((folder / file).read_text()))
    if not lines:
        yield Forgery(file, "", "a line more", f"{','.join(header)}\n{','.join('1' for _ in header)}\n".encode())
        return
    for nth in {0, len(lines) // 2, len(lines) - 1}:
        for column, name in enumerate(header):
            cells = [list(line) for line in lines]
            old = cells[nth][column]
            cells[nth][column] = f"{float(old) * 1.05 + 0.01}" if _is_number(old) else f"{old}x"
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([header, *cells])
            yield Forgery(file, name, f"{name} of line {nth}: {old} -> {cells[nth][column]}", text.getvalue().encode())


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def in_table(folder, file):
    table = pq.read_table(folder / file)
    for name in table.column_names:
        for nth in (0, len(table) // 2, len(table) - 1):
            values = table[name].to_pylist()
            old = values[nth]
            values[nth] = other_values(old)[0] if old == old else 0.5
            column = pa.array(values, type=table[name].type)
            buffer = io.BytesIO()
            pq.write_table(table.set_column(table.column_names.index(name), name, column), buffer)
            yield Forgery(file, name, f"{name} of row {nth}: {old} -> {values[nth]}", buffer.getvalue())


def in_array(folder, file):
    array = np.load(folder / file)
    for nth in {0, array.size // 2, array.size - 1} if array.size else ():
        changed = array.copy()
        changed.flat[nth] = 1 - changed.flat[nth] if changed.dtype == bool else changed.flat[nth] + 1
        buffer = io.BytesIO()
        np.save(buffer, changed)
        yield Forgery(file, "", f"element {nth}", buffer.getvalue())


def in_bytes(folder, file):
    content = bytearray((folder / file).read_bytes())
    for nth in {0, len(content) // 2, len(content) - 1} if content else ():
        changed = bytearray(content)
        changed[nth] ^= 1
        yield Forgery(file, "", f"byte {nth}", bytes(changed))


KINDS = {".json": in_json, ".txt": in_lines, ".csv": in_csv, ".parquet": in_table, ".npy": in_array}


def forgeries(folder):
    """Yield every single change of a run folder."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        file = path.relative_to(folder).as_posix()
        yield Forgery(file, "", "deleted", None)
        yield from KINDS.get(path.suffix, in_bytes)(folder, file)


def bring_in_line(folder):
    """Write the manifest anew, as somebody would who has changed other files and knows of it."""
    (folder / MANIFEST).write_text(json.dumps({"sha256": digests(folder, OF_A_RUN)}))


def judged(folder, forgery, verify, *, known):
    """Return "noticed", "named" if `verify` says that it does not check it, or else what went wrong.

    `known` says whether the forger knows of the manifest.
    """
    path, manifest = folder / forgery.file, (folder / MANIFEST).read_bytes()
    before = path.read_bytes()
    try:
        if forgery.content is None:
            path.unlink()
        else:
            path.write_bytes(forgery.content)
        if known:
            bring_in_line(folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that no run writes
            checks = verify(folder)
    except leanset.LeansetError:
        return "noticed"  # told in one line
    except Exception as error:
        return f"{type(error).__name__}: {error}"  # an error that nobody foresaw is no answer
    finally:
        path.write_bytes(before)
        (folder / MANIFEST).write_bytes(manifest)
    if not all(check.holds for check in checks):
        return "noticed"
    return "named" if known and is_named(forgery, checks) else "unnoticed"


def is_named(forgery, checks):
    """Return whether `verify` says of a field, a file or its folder that it does not check it."""
    for check in checks:
        file, _, fields = check.name.partition(": ")
        ours = f"{forgery.file}/".startswith(f"{file}/") and (not fields or forgery.field in fields.split(", "))
        if ours and not check.checked:
            return True
    return False


def toy(n=120):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, n + 60)
    features = rng.normal(size=(n + 60, 4)) + 1.2 * np.eye(3, 4)[labels]
    return features[:n], labels[:n], (features[n:], labels[n:])


def statistics(features, labels, validation):
    """Return what a network of these features would leave behind."""
    rng = np.random.default_rng(6)
    head = rng.normal(size=(3, features.shape[1] + 1)).astype(np.float32)
    logits = (features @ head[:, :-1].T + head[:, -1]).astype(np.float32)
    record = rng.random((3, 4, len(labels))).astype(np.float32)
    return HeadStatistics(
        features=features.astype(np.float32),
        labels=labels,
        classes=("a", "b", "c"),
        logits=logits,
        head=head,
        weight_decay=1e-3,
        validation=(validation[0].astype(np.float32), validation[1]),
        dynamics=(Dynamics(record[0] > 0.5, *record),),
    )


def runs(folder):
    """Make run folders of several kinds; yield the name of each and how to verify it."""
    features, labels, validation = toy()
    for name, options in {
        "search": {"fraction": 0.4, "pinned": [3, 8], "validation": validation},
        "method": {"count": 30, "method": "el2n", "class_balance": 5, "l2": 1e-2, "frontier": False},
        "weights": {"keep": 60, "weights": True, "frontier": False, "validation": validation},
        "drop": {"min_agreement": 0.9, "suspects": "drop", "class_balance": "none", "frontier": False},
        "C": {"fraction": 0.5, "C": 1.0, "formulation": "paper", "frontier": False},
    }.items():
        leanset.prune(features, labels, out=folder / name, progress=False, **options)
        data = {"validation": options.get("validation")}
        yield name, partial(leanset.verify, features=features, labels=labels, **data)
    store = folder / "network" / "network" / "head"  # where a run on images has it
    statistics(features, labels, validation).save(store)
    leanset.prune(f"head:{store}", fraction=0.4, frontier=False, out=folder / "network", progress=False)
    yield "network", leanset.verify


def examined(folder, verify, every=1):
    """Try the forgeries of a run folder; return their number, those that went wrong, and how many are named."""
    tried, wrong, named = 0, [], 0
    for forgery in list(forgeries(folder))[::every]:
        tried += 1
        for known in (False, True) if forgery.file != MANIFEST else (False,):
            found = judged(folder, forgery, verify, known=known)
            named += found == "named"
            if found not in ("noticed", "named"):
                how = "in line" if known else "left alone"
                wrong.append(f"{forgery.file}: {forgery.what} (manifest {how}): {found}")
    return tried, wrong, named


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.faults forge", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="try only one in so many")
    given = parser.parse_args(argv)
    total, wrong, named = 0, [], 0
    with tempfile.TemporaryDirectory() as place:
        for name, verify in runs(Path(place)):
            tried, missed, said = examined(Path(place) / name, verify, given.every)
            total, named = total + tried, named + said
            wrong += [f"{name}: {line}" for line in missed]
            sys.stdout.write("".join(f"{name}: {line}\n" for line in missed))
            sys.stdout.flush()
            shutil.rmtree(Path(place) / name)
    sys.stdout.write(
        f"forge: {total} changes, each with the manifest left alone and with it brought in line; {len(wrong)} unnoticed; "
        f"{named} of what `verify` says that it does not check.\n"
    )
    return int(bool(wrong))
