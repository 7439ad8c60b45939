"""Damaged inputs for every reader: each is read, or refused with one of leanset's errors, in little time and memory."""

import argparse
import contextlib
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from leanset import LeansetError
from tests.faults.readers import READERS, make

SECONDS = 30.0  # for one input, before its process is ended; most take about a millisecond
MEMORY = 2**30  # bytes beyond what the process has when it starts
_NUMBERS = [0, 1, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1]
_TOKENS = [
    b"null",
    b"-1",
    b"1e999",
    b"NaN",
    b"9" * 5000,
    b"[" * 3000,
    b'""',
    b"{}",
    b"\xff",
    b"\x00",
    b",",
    b"\n",
    b"../x",
]


def _flip(rng, content):
    for place in rng.integers(0, len(content), rng.integers(1, 9)):
        content[place] ^= 1 << int(rng.integers(8))


def _set_bytes(rng, content):
    for place in rng.integers(0, len(content), rng.integers(1, 5)):
        content[place] = int(rng.choice([0, 1, 127, 128, 255, rng.integers(256)]))


def _set_number(rng, content):
    size = int(rng.choice([2, 4, 8]))
    value = _NUMBERS[rng.integers(len(_NUMBERS))] % 2 ** (8 * size)
    place = int(rng.integers(0, max(1, len(content) - size)))
    content[place : place + size] = value.to_bytes(size, "little" if rng.random() < 0.5 else "big")


def _cut(rng, content):
    del content[int(rng.integers(0, len(content))) :]


def _remove(rng, content):
    start = int(rng.integers(0, len(content)))
    del content[start : start + int(rng.integers(1, 64))]


def _repeat(rng, content):
    start = int(rng.integers(0, len(content)))
    part = content[start : start + int(rng.integers(1, 256))]
    content[start:start] = part * int(rng.integers(1, 20))


def _token(rng, content):
    start = int(rng.integers(0, len(content)))
    content[start : start + int(rng.integers(0, 12))] = _TOKENS[rng.integers(len(_TOKENS))]


def _move(rng, content):
    one, other = sorted(rng.integers(0, len(content), 2).tolist())
    size = int(rng.integers(1, 64))
    content[one : one + size], content[other : other + size] = content[other : other + size], content[one : one + size]


_DAMAGES = (_flip, _set_bytes, _set_number, _cut, _remove, _repeat, _token, _move)


def damaged(content, seed):
    """Return a file's content with one to three damages; the same seed gives the same ones."""
    rng, changed = np.random.default_rng(seed), bytearray(content)
    for _ in range(rng.integers(1, 4)):
        if changed:
            _DAMAGES[rng.integers(len(_DAMAGES))](rng, changed)
    return bytes(changed)


def read_damaged(reader, folder, nth):
    """Damage one of a reader's files, read them, put the file back; return the outcome in a word, or what went wrong."""
    name = reader.damaged[nth % len(reader.damaged)]
    path = folder / name
    whole = path.read_bytes()
    path.write_bytes(damaged(whole, [nth, len(whole)]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(folder)
    except LeansetError:
        return "refused"
    except Exception as error:
        return f"{reader.name} {nth} ({name}): {type(error).__name__}: {str(error)[:120]}"
    else:
        return "read"
    finally:
        path.write_bytes(whole)


def _child(reader, folder, numbers, pipe):
    with contextlib.suppress(LeansetError):
        reader.read(folder)  # imports what it needs, which takes longer than any input
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what C libraries say about damaged files
    with Connection(pipe, readable=False) as out:
        out.send("ready")
        for nth in numbers:
            out.send(read_damaged(reader, folder, nth))
    os._exit(0)


def _forked(reader, folder, numbers):
    """Read damaged inputs in a process of its own; yield an outcome for each, also if the process dies or hangs."""
    left = list(numbers)
    while left:
        receive, send = os.pipe()
        child = os.fork()
        if not child:
            os.close(receive)
            try:
                _child(reader, folder, left, send)
            finally:
                os._exit(3)
        os.close(send)
        done = 0
        with Connection(receive, writable=False) as answers, contextlib.suppress(EOFError):
            answers.recv()
            while done < len(left) and answers.poll(SECONDS):
                yield answers.recv()
                done += 1
        if done < len(left):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if done < len(left):
            for name, content in reader.files.items():
                (folder / name).write_bytes(content)
            how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
            yield f"{reader.name} {left[done]}: the process ended or took more than {SECONDS:g} s ({how})"
            done += 1
        left = left[done:]


def fuzzed(count, first=0, readers=READERS):
    """Read damaged inputs, `count` over all readers; return outcomes by reader, and what went wrong."""
    seen, wrong = {}, []
    shares = np.diff(np.linspace(0, count, len(readers) + 1).astype(int))
    with tempfile.TemporaryDirectory() as place:
        make([reader.name for reader in readers], Path(place))
        for reader, share in zip(readers, shares, strict=True):
            folder = Path(place, reader.name)
            reader.remember(folder)
            seen[reader.name] = Counter()
            for outcome in _forked(reader, folder, range(first, first + int(share))):
                if outcome not in ("read", "refused"):
                    wrong.append(outcome)
                seen[reader.name][outcome if outcome in ("read", "refused") else "wrong"] += 1
    return seen, wrong


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.faults fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=[reader.name for reader in READERS])
    given = parser.parse_args(argv)
    began = time.monotonic()
    readers = [reader for reader in READERS if given.only is None or reader.name in given.only]
    seen, wrong = fuzzed(given.count, given.first, readers)
    for name, outcomes in seen.items():
        sys.stdout.write(f"{name}: {', '.join(f'{number:,} {word}' for word, number in sorted(outcomes.items()))}\n")
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    sys.stdout.write(
        f"fuzz: {given.count:,} damaged inputs, {len(seen)} readers, {len(wrong)} wrong, "
        f"{time.monotonic() - began:.0f} s.\n"
    )
    return int(bool(wrong))
