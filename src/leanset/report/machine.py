"""A record of the machine that a result was made on. It never holds a path or a host name."""

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import threadpoolctl

from leanset._threads import available_threads
from leanset._version import __version__

_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "torch", "pyDVL")


def machine() -> dict[str, Any]:
    """Return processor, system and versions.

    Examples
    --------
    >>> machine()["cores"] >= 1
    True
    """
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


def load() -> list[float]:
    """Return the load averages of the last 1, 5 and 15 minutes; an empty list if the system has none.

    Examples
    --------
    >>> len(load()) in (0, 3)
    True
    """
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else []


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
    """Return the commit if leanset runs from a checkout, with a + if its source was changed; else None."""
    source = Path(__file__).parents[1]
    if not (source.parents[1] / ".git").exists():
        return None

    def git(*words: str) -> str:
        asked = subprocess.run(["git", *words], capture_output=True, text=True, cwd=source, check=True)
        return asked.stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", ".") else "")
    except (OSError, subprocess.CalledProcessError):
        return None
