"""What a benchmark is asked, what it hands over, and how that is written down.

A record holds the command, the protocol, the machine with its load, and the rows. It never holds a path or a host name.
"""

import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import threadpoolctl

from leanset import __version__
from leanset._threads import available_threads

Row = dict[str, Any]  # plain values; the optional key "part" says which table of the benchmark a row belongs to

_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "torch", "pyDVL")


@dataclass(frozen=True)
class Request:
    """What a benchmark is asked to do."""

    data: Path
    out: Path
    small: bool


@dataclass(frozen=True)
class Claim:
    """A target and what was measured against it."""

    text: str
    target: str
    measured: float
    holds: bool


@dataclass(frozen=True)
class Findings:
    """What a benchmark hands over; `files` are further files to write beside the record, by name."""

    rows: list[Row]
    seeds: list[int]
    claims: list[Claim]
    files: dict[str, bytes] = field(default_factory=dict)


def at_most(text: str, measured: float, limit: float) -> Claim:
    """Return the claim that a measured value is at most `limit`."""
    return Claim(text, f"<= {limit:g}", float(measured), bool(measured <= limit))


def at_least(text: str, measured: float, limit: float) -> Claim:
    """Return the claim that a measured value is at least `limit`."""
    return Claim(text, f">= {limit:g}", float(measured), bool(measured >= limit))


def record(
    name: str, protocol: str, run: Callable[[Request], Findings], request: Request, command: str
) -> tuple[Findings, float]:
    """Run one benchmark and write `<name>.json` and its further files; return the findings and the seconds taken."""
    machine, load_before, began = _machine(), _load(), time.perf_counter()
    findings = run(request)
    seconds = time.perf_counter() - began
    content = {
        "benchmark": name,
        "command": command,
        "small": request.small,
        "protocol": protocol.strip(),
        "seeds": findings.seeds,
        "machine": machine | {"load_at_start": load_before, "load_at_end": _load()},
        "seconds": round(seconds, 1),
        "claims": [asdict(claim) for claim in findings.claims],
        "rows": findings.rows,
    }
    request.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain)
    (request.out / f"{name}.json").write_text(text + "\n")
    for file, data in findings.files.items():
        (request.out / file).write_bytes(data)
    return findings, seconds


def _plain(value: Any) -> Any:
    return value.item()  # NumPy scalars; anything else is a mistake and fails here


def _machine() -> dict[str, Any]:
    installed = {name: _version(name) for name in _PACKAGES}
    return {
        "cpu": _cpu_model(),
        "cores": available_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "leanset": __version__,
        "commit": _commit(),
        **{name: version for name, version in installed.items() if version},
        "blas": sorted({f"{lib['internal_api']} {lib['version']}" for lib in threadpoolctl.threadpool_info()}),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _commit() -> str | None:
    def git(*words: str) -> str:
        asked = subprocess.run(["git", *words], capture_output=True, text=True, cwd=Path(__file__).parent, check=True)
        return asked.stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "../src") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _load() -> list[float]:
    return [round(value, 2) for value in os.getloadavg()]
