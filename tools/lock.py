"""The versions of the development set-up, each with the digest of its file: `requirements.lock`.

`python tools/lock.py` writes it for the Python and the system that it runs on; `python tools/lock.py --check` says whether
what is installed is what is locked.
"""

import argparse
import importlib.metadata
import json
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
_LINE = re.compile(r"([\w.-]+)==(\S+) --hash=sha256:([0-9a-f]{64})")
_OWN = {"leanset", "pip", "setuptools", "wheel"}  # leanset itself, and what an empty environment has


def plain(name: str) -> str:
    """Return the name of a package as indexes spell it.

    Examples
    --------
    >>> plain("Scikit_Learn")
    'scikit-learn'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(text: str) -> dict[str, tuple[str, str]]:
    """Return version and digest of each package in the text of a lock.

    Examples
    --------
    >>> locked("rich==14.0 --hash=sha256:" + "0" * 64)["rich"][0]
    '14.0'
    """
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            match = _LINE.fullmatch(line)
            if match is None:
                raise SystemExit(f"{LOCK.name}: not a version with its digest: {line}")
            found[match[1]] = match[2], match[3]
    return found


def resolved() -> dict[str, tuple[str, str]]:
    """Ask pip what it would install into an empty environment, and for the digests of the files."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        options = ["--dry-run", "--ignore-installed", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
        command = [sys.executable, "-m", "pip", "install", *options, "--report", report.name, f"{ROOT}[dev]"]
        subprocess.run(command, check=True)
        items = json.load(report)["install"]
    found = {}
    for item in items:
        name = plain(item["metadata"]["name"])
        if name != "leanset":
            digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
            found[name] = item["metadata"]["version"], digest
    return found


def differences(known: dict[str, tuple[str, str]]) -> list[str]:
    """Return how what is installed differs from a lock, in words."""
    installed = {plain(each.name): each.version for each in importlib.metadata.distributions()}
    wrong = [
        f"{name} {version} is locked; {installed.get(name) or 'nothing'} is installed"
        for name, (version, _) in sorted(known.items())
        if installed.get(name) != version
    ]
    more = sorted(installed.keys() - known.keys() - _OWN)
    return wrong + [f"{name} {installed[name]} is installed, but not locked" for name in more]


def main() -> int:
    """Write the lock, or check what is installed against it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        wrong = differences(locked(LOCK.read_text()))
        sys.stdout.write("".join(f"{line}\n" for line in wrong) or "What is installed is what is locked.\n")
        return int(bool(wrong))
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    lines = [f"# The development set-up on {system}; written by `make lock`, installed by `make locked`.\n"]
    lines += [f"{name}=={version} --hash=sha256:{digest}\n" for name, (version, digest) in sorted(resolved().items())]
    LOCK.write_text("".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
