"""What a benchmark is asked, what it hands over, and how that is written down.

A record holds the command, the protocol, the machine with its load, and the rows. It never holds a path or a host name.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from leanset.report.machine import load, machine  # not by the door: older versions, too, have it here

Row = dict[str, Any]  # plain values; the optional key "part" says which table of the benchmark a row belongs to


@dataclass(frozen=True)
class Request:
    """What a benchmark is asked to do; `only` names one of its parts."""

    data: Path
    out: Path
    small: bool
    only: str | None = None


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
    about, load_before, began = machine(), load(), time.perf_counter()
    findings = run(request)
    seconds = time.perf_counter() - began
    content = {
        "benchmark": name,
        "command": command,
        "small": request.small,
        "protocol": protocol.strip(),
        "seeds": findings.seeds,
        "machine": about | {"load_at_start": load_before, "load_at_end": load()},
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
