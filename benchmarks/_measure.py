"""Wall time and peak memory of a command.

The peak of a child process starts at the memory of the process that forked it (Linux keeps it across exec), so a
command is started from a fresh, small interpreter that runs this very file and imports nothing heavy.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in one unit of ru_maxrss


@dataclass(frozen=True)
class Usage:
    """What a command took and printed."""

    seconds: float
    peak_bytes: int
    output: str


def measured(command: list[str], *, env: Mapping[str, str] | None = None) -> Usage:
    """Run a command to its end and return what it took; raise if it fails."""
    asked = [sys.executable, str(Path(__file__)), *command]
    answer = json.loads(subprocess.run(asked, env=env, capture_output=True, text=True, check=True).stdout)
    if answer.pop("status"):
        raise RuntimeError(f"a measured command failed: {answer['errors'].strip()[-2000:]}")
    answer.pop("errors")
    return Usage(**answer)


def _main() -> None:
    began = time.perf_counter()
    ended = subprocess.run(sys.argv[1:], capture_output=True, text=True)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * RSS_UNIT
    answer = {"status": ended.returncode, "seconds": seconds, "peak_bytes": peak}
    print(json.dumps(answer | {"output": ended.stdout, "errors": ended.stderr}))


if __name__ == "__main__":
    _main()
