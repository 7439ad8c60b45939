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
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import leanset
from leanset._manifest import digests
from leanset.recheck import unchecked_of
from leanset.runs import MANIFEST, OF_A_RUN, RunFolder


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


def unnoticed(folder, forgery, verify, examples, *, known):
    """Return "" if `verify` notices a change, "named" if it says that it does not check it, else "unnoticed".

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
            if not all(check.holds for check in verify(folder)):
                return ""
        return "named" if known and is_named(folder, forgery, examples) else "unnoticed"
    except leanset.LeansetError:
        return ""  # told in one line
    finally:
        path.write_bytes(before)
        (folder / MANIFEST).write_bytes(manifest)


def is_named(folder, forgery, examples):
    """Return whether `verify` says of a field that it does not check it."""
    run = RunFolder(folder)
    claims = unchecked_of(run, examples, run.read_json("settings.json"), run.read_json("certificate.json"))
    return any(claim.file == forgery.file and (not claim.names or forgery.field in claim.names) for claim in claims)


def toy(n=120):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, n + 60)
    features = rng.normal(size=(n + 60, 4)) + 1.2 * np.eye(3, 4)[labels]
    return features[:n], labels[:n], (features[n:], labels[n:])


def runs(folder):
    """Make run folders of several kinds; yield each with its data."""
    features, labels, validation = toy()
    for name, options in {
        "search": {"fraction": 0.4, "pinned": [3, 8], "validation": validation},
        "method": {"count": 30, "method": "el2n", "class_balance": 5, "l2": 1e-2, "frontier": False},
        "weights": {"keep": 60, "weights": True, "frontier": False, "validation": validation},
        "drop": {"min_agreement": 0.9, "suspects": "drop", "class_balance": "none", "frontier": False},
        "C": {"fraction": 0.5, "C": 1.0, "formulation": "paper", "frontier": False},
    }.items():
        leanset.prune(features, labels, out=folder / name, progress=False, **options)
        yield name, (features, labels, options.get("validation"))


def verifier(data):
    features, labels, validation = data
    return lambda folder: leanset.verify(folder, features, labels, validation=validation)


def examined(folder, data, every=1):
    """Try the forgeries of a run folder; return their number, the unnoticed ones, and how many of them are named."""
    from leanset.data import examples_from

    verify, (features, labels, validation) = verifier(data), data
    examples = examples_from(features, labels, validation, "classes")
    tried, missed, named = 0, [], 0
    for forgery in list(forgeries(folder))[::every]:
        tried += 1
        for known in (False, True) if forgery.file != MANIFEST else (False,):
            found = unnoticed(folder, forgery, verify, examples, known=known)
            named += found == "named"
            if found == "unnoticed":
                missed.append(f"{forgery.file}: {forgery.what} (manifest {'in line' if known else 'left alone'})")
    return tried, missed, named


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.faults forge", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="try only one in so many")
    given = parser.parse_args(argv)
    total, wrong, named = 0, [], 0
    with tempfile.TemporaryDirectory() as place:
        for name, data in runs(Path(place)):
            tried, missed, said = examined(Path(place) / name, data, given.every)
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
