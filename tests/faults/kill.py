"""Kills: at every file operation, and at random moments. The same command again gives the same result, to the last bit."""

import argparse
import contextlib
import functools
import hashlib
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import leanset
from leanset._threads import thread_count

QUICK = {"l2": 1e-2, "proposals": 200, "random_draws": 2, "frontier": False, "threads": 1, "progress": False}
_WRITES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}


@functools.cache
def toy():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 40)
    return rng.normal(size=(40, 2)) + labels[:, None], labels


@functools.cache
def images():
    from tests.training.networks import striped_images

    return striped_images(24, classes=2, held_out=8)


def prune(folder):
    leanset.prune(*toy(), fraction=0.4, suspects="drop", out=folder / "run", **QUICK)


def report(folder):
    """Write a page over an earlier one."""
    result = leanset.prune(*toy(), fraction=0.4, **QUICK)
    result.report(folder / "report.html", toy()[0])


def compare(folder):
    leanset.compare(
        *toy(), methods=["leanset", "el2n"], fractions=[0.5], seeds=2, l2=1e-2, out=folder / "out", threads=1
    )


def train(folder):
    import torch
    from torch.utils.data import TensorDataset

    import leanset.torch as lt
    from tests.training.networks import tiny

    data = TensorDataset(torch.from_numpy(images().pixels / 255).float(), torch.from_numpy(images().labels))
    with thread_count(1):
        chosen = lt.Recipe(epochs=2, lr=0.05, batch_size=8)
        lt.train(tiny(classes=2), data, recipe=chosen, device="cpu", out=folder / "net", progress=False)


def capture(folder):
    options = {"model": "lenet", "epochs": 1, "device": "cpu", "l2": None, "out": folder / "run"}
    leanset.prune(images(), count=6, **QUICK | options)


@dataclass(frozen=True)
class Task:
    """A command, and the parts of its files that depend on the clock."""

    run: object
    timed: tuple[str, ...] = ()


TASKS = {
    "prune": Task(prune),
    "report": Task(report),
    "compare": Task(compare, ("seconds", "machine", "load_at_end")),
    "train": Task(train),
    "capture": Task(capture),
}


def _without(value, names):
    if isinstance(value, dict):
        return {key: _without(item, names) for key, item in value.items() if key not in names}
    return [_without(item, names) for item in value] if isinstance(value, list) else value


def content_of(path, timed):
    """Return what a file says, without what depends on the clock."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return {name: (array.shape, array.tobytes()) for name, array in file.items() if name not in timed}
    if timed and path.suffix == ".json":
        return _without(json.loads(path.read_text()), timed)
    if timed and path.suffix in (".csv", ".parquet", ".md"):
        return "a table with times"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder, timed):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): content_of(path, timed) for path in files}


def _forked(work):
    """Run in a process of its own; return its id."""
    child = os.fork()
    if child:
        return child
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work()
        os._exit(0)
    finally:
        os._exit(1)


def _exit_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _counted(folder, at_each):
    """Call a function with the number of each operation that changes files in a folder, just before it is done."""
    number = 0

    def hook(event, arguments):
        nonlocal number
        opened = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if (opened or event in _WRITES) and str(arguments[0]).startswith(str(folder)):
            at_each(number)
            number += 1

    sys.addaudithook(hook)


def operations(task, folder):
    """Return how many operations a command does."""
    receive, send = os.pipe()

    def work():
        _counted(folder, lambda number: os.write(send, b"."))
        task.run(folder)

    assert _exit_of(_forked(work)) == 0
    os.close(send)
    with os.fdopen(receive, "rb") as answer:
        return len(answer.read())


def _kill_at(task, folder, wanted):
    def kill(number):
        if number == wanted:
            os.kill(os.getpid(), signal.SIGKILL)

    def work():
        _counted(folder, kill)
        task.run(folder)

    return _exit_of(_forked(work))


def _kill_after(task, folder, seconds):
    child = _forked(lambda: task.run(folder))
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return _exit_of(child)


class Study:
    """Kills of one command, each in a folder of its own."""

    def __init__(self, name, place):
        self.name, self.task, self.place, self.wrong = name, TASKS[name], Path(place, name), []
        self.expected = self._resumed("whole")
        began = time.monotonic()
        self.expected = self._resumed("again")
        self.seconds = time.monotonic() - began

    def _resumed(self, word):
        folder = self.place / word
        folder.mkdir(parents=True, exist_ok=True)
        code = _exit_of(_forked(lambda: self.task.run(folder)))
        if code:
            self.wrong.append(f"{self.name} {word}: exit code {code}")
        return contents(folder, self.task.timed)

    def _check(self, word):
        found = self._resumed(word)
        differ = [name for name in found.keys() | self.expected if found.get(name) != self.expected.get(name)]
        if differ:
            self.wrong.append(f"{self.name} {word}: {', '.join(sorted(differ))}")

    def at_operations(self, every=1):
        """Kill before every operation, or before some; return the number of kills."""
        folder = self.place / "count"
        folder.mkdir()
        numbers = range(0, operations(self.task, folder), every)
        for number in numbers:
            word = f"operation {number}"
            (self.place / word).mkdir()
            if _kill_at(self.task, self.place / word, number) != -signal.SIGKILL:
                self.wrong.append(f"{self.name} {word}: was not killed")
            self._check(word)
        return len(numbers)

    def at_random(self, kills, seed=0):
        """Kill at random moments, twice each before it may finish; return the number of kills."""
        rng = np.random.default_rng(seed)
        for nth in range(kills):
            word = f"moment {nth}"
            (self.place / word).mkdir()
            for _ in range(2):
                _kill_after(self.task, self.place / word, self.seconds * rng.random())
            self._check(word)
        return 2 * kills


def killed(names, moments, every=1):
    """Kill commands; return how often, and what was wrong afterwards."""
    kills, wrong = {}, []
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            _warm(name, Path(place, f"warm-{name}"))
            study = Study(name, place)
            kills[name] = study.at_operations(every), study.at_random(moments)
            wrong += study.wrong
    return kills, wrong


def _warm(name, folder):
    """Import and compile here what the processes would otherwise each do for themselves."""
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TASKS[name].run(folder)


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.faults kill", description=__doc__)
    parser.add_argument("--moments", type=int, default=25, help="random moments for each command, two kills each")
    parser.add_argument("--every", type=int, default=1, help="kill before every such operation")
    parser.add_argument("--only", choices=TASKS)
    given = parser.parse_args(argv)
    began = time.monotonic()
    kills, wrong = killed([name for name in TASKS if given.only in (None, name)], given.moments, given.every)
    for name, (operation, moment) in kills.items():
        sys.stdout.write(f"{name}: killed at {operation} file operations and at {moment} random moments\n")
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    total = sum(map(sum, kills.values()))
    sys.stdout.write(f"kill: {total} kills, {len(wrong)} wrong, {time.monotonic() - began:.0f} s.\n")
    return int(bool(wrong))
