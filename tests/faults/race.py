"""Two runs at the same moment in one folder: each gives its own answer, or is told why it may not start."""

import argparse
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import leanset

_MAKE = multiprocessing.get_context("spawn")  # a forked child would share the locks of its parent
REFUSED = "refused"


def toy(n=120):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + labels[:, None], labels


def answer(options):
    result = leanset.prune(*toy(), fraction=0.3, progress=False, threads=1, frontier=False, **options)
    return tuple(result.removed.tolist()), result.certificate.head_norm


def _work(tasks, answers, start):
    for options in iter(tasks.get, None):
        start.wait()
        try:
            answers.put(answer(options))
        except leanset.RunFolderError as error:
            answers.put((REFUSED, str(error)))


class Pair:
    """Two processes that start their runs at the same moment."""

    def __enter__(self):
        self.start = _MAKE.Barrier(2)
        self.queues = [(_MAKE.Queue(), _MAKE.Queue()) for _ in range(2)]
        self.workers = [_MAKE.Process(target=_work, args=(*queues, self.start), daemon=True) for queues in self.queues]
        for worker in self.workers:
            worker.start()
        return self

    def run(self, first, second):
        for (tasks, _), options in zip(self.queues, (first, second), strict=True):
            tasks.put(options)
        return [answers.get(timeout=60) for _, answers in self.queues]

    def __exit__(self, *_):
        for (tasks, _), worker in zip(self.queues, self.workers, strict=True):
            tasks.put(None)
            worker.join(30)


def settings_of(nth):
    """Return the settings of the two runs of a pair: mostly different, sometimes the same; refused or waiting."""
    first, second = {"l2": 1e-4, "seed": nth}, {"l2": (0.1, 1e-4)[nth % 4 == 3], "seed": nth}
    return first, second, nth % 3 == 2


def wrong_answers(pairs, folder):
    """Run pairs; return what went wrong, in words, and how many runs were refused."""
    wrong, refused = [], 0
    with Pair() as both:
        for nth in range(pairs):
            *settings, wait = settings_of(nth)
            common = {"out": folder / str(nth), "overwrite": settings[0] != settings[1], "wait": wait}
            found = both.run(*(each | common for each in settings))
            for options, given in zip(settings, found, strict=True):
                if given[0] == REFUSED:
                    refused += 1
                    if wait or "another run is working in this folder" not in given[1]:
                        wrong.append(f"pair {nth}: {options}: {given[1]}")
                elif given != answer(options):
                    wrong.append(f"pair {nth}: {options}: the answer of other settings")
            if all(given[0] == REFUSED for given in found):
                wrong.append(f"pair {nth}: both were refused")
            kept = leanset.load(folder / str(nth))
            if (tuple(kept.removed.tolist()), kept.certificate.head_norm) not in found:
                wrong.append(f"pair {nth}: the folder contains neither answer")
    return wrong, refused


def locked_out(kills, folder):
    """Kill runs at random moments; return the folders in which a second run is then refused."""
    found = []
    for nth in range(kills):
        out = folder / f"killed-{nth}"
        child = _MAKE.Process(target=answer, args=({"l2": 1e-2, "out": out},))
        child.start()
        while child.is_alive() and not out.exists():
            time.sleep(0.001)
        time.sleep(0.03 * np.random.default_rng(nth).random())
        if child.pid is not None and child.is_alive():
            os.kill(child.pid, signal.SIGKILL)
        child.join()
        try:
            same = answer({"l2": 1e-2, "out": out}) == answer({"l2": 1e-2})
        except leanset.RunFolderError as error:
            found.append(f"killed {nth}: {error}")
        else:
            found += [] if same else [f"killed {nth}: another answer"]
    return found


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.faults race", description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--kills", type=int, default=40)
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        wrong, refused = wrong_answers(given.pairs, Path(folder))
        wrong += locked_out(given.kills, Path(folder))
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    sys.stdout.write(
        f"race: {given.pairs} pairs, {refused} runs refused with the reason; {given.kills} runs killed; "
        f"{len(wrong)} wrong.\n"
    )
    return int(bool(wrong))
