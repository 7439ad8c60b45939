"""A short part of the commands of `python -m tests.faults`, each in a process of its own, because they fork."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.faults import degenerate, fuzz, readers

SLOW_TO_IMPORT = ("hf", "checkpoint")


def said(*words):
    """Run a command and return what it says; it must find nothing wrong."""
    command = [sys.executable, "-m", "tests.faults", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_damaged_inputs_are_read_or_refused():
    quick = [reader.name for reader in fuzz.READERS if reader.name not in SLOW_TO_IMPORT]
    lines = said("fuzz", "--count", 20 * len(quick), "--first", 1_000_000, "--only", *quick)
    assert f"{20 * len(quick)} damaged inputs, {len(quick)} readers, 0 wrong" in lines
    assert sum(map(int, re.findall(r"(\d+) refused", lines))) > 100
    assert sum(map(int, re.findall(r"(\d+) read\b", lines))) > 30


def test_a_reader_that_fails_or_dies_would_be_seen(tmp_path):
    def fails(folder):
        if (folder / "rows.txt").read_bytes() != whole:
            raise ZeroDivisionError

    def dies(folder):
        if (folder / "rows.txt").read_bytes() != whole:
            os._exit(9)

    readers._rows(tmp_path)
    whole = (tmp_path / "rows.txt").read_bytes()
    for read, word in ((fails, "ZeroDivisionError"), (dies, "exit 9")):
        reader = readers.Reader("odd", readers._rows, read)
        reader.remember(tmp_path)
        try:
            outcomes = list(fuzz._forked(reader, tmp_path, range(2)))
        finally:
            assert (tmp_path / "rows.txt").read_bytes() == whole
        assert len(outcomes) == 2
        assert all(word in outcome for outcome in outcomes)


def test_degenerate_data_are_refused_or_answered_right():
    seen, wrong = degenerate.counted(range(100_000, 100_016))
    assert wrong == []
    assert seen["right"] > 4


def test_killed_runs_resume_to_the_same_files():
    lines = said("kill", "--only", "prune", "--every", 6, "--moments", 2)
    assert re.search(r"prune: killed at \d+ file operations and at 4 random moments", lines)
