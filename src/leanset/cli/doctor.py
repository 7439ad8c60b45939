"""What is installed, what works, what is missing, and how to get it."""

import platform
import time
from typing import Any

import numpy as np
import typer
from rich import box
from rich.table import Table

from leanset import __version__, prune
from leanset._installation import Package, packages
from leanset._threads import available_threads
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.cli.screen import styled


@guarded
def doctor(as_json: options.AsJson = False) -> None:
    """Say what is installed, what is missing, and how to get it.

    The exit code is 1 if something is missing or broken that leanset cannot do without.

    Example: leanset doctor --json
    """
    found = packages()
    test, devices = _self_test(), _devices(found)
    missing = sorted({package.extra for package in found if package.extra and not package.fits})
    broken = [package.name for package in found if not package.extra and not package.fits]
    if as_json:
        show.show_json(
            {
                "leanset": __version__,
                "python": platform.python_version(),
                "system": f"{platform.system()} {platform.machine()}",
                "threads": available_threads(),
                "devices": devices,
                "self_test": test,
                "packages": [_values(package) for package in found],
                "missing_extras": {extra: _line(extra) for extra in missing},
            }
        )
    else:
        _show(found, missing, devices, test)
    if broken or not test["works"]:
        raise typer.Exit(1)


def _show(found: list[Package], missing: list[str], devices: list[str], test: dict[str, Any]) -> None:
    show.OUT.print(
        f"leanset {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{available_threads()} threads"
    )
    show.OUT.print(f"Devices for networks: {', '.join(devices) or 'none, because torch is not installed'}")
    table = Table(box=box.SIMPLE, pad_edge=False)
    for column in ("needed for", "package", "installed", "needed", ""):
        table.add_column(column)
    for package in found:
        mark = ("ok", "green") if package.fits else ("too old", "red bold")
        if package.installed is None:
            mark = ("missing", "yellow" if package.extra else "red bold")
        table.add_row(package.extra or "leanset", package.name, package.installed or "", package.needs, styled(mark))
    if found:
        show.OUT.print(table)
    else:
        show.OUT.print("leanset runs from a folder and is not installed: what it needs is unknown.", style="yellow")
    if test["works"]:
        show.OUT.print(styled(("It works:", "green"), f" a small run took {test['seconds']:.1f} s."))
    else:
        show.OUT.print(styled(("A small run fails:", "red bold"), f" {test['error']}"))
    for extra in missing:
        show.OUT.print(f"For the {extra} extra: {_line(extra)}")


def _self_test() -> dict[str, Any]:
    rng, began = np.random.default_rng(0), time.perf_counter()
    try:
        prune(rng.normal(size=(60, 2)), np.arange(60) % 2, fraction=0.5, proposals=1000, frontier=False)
    except Exception as error:  # whatever a broken installation raises is the answer
        return {"works": False, "error": f"{type(error).__name__}: {error}"}
    return {"works": True, "seconds": round(time.perf_counter() - began, 2)}


def _devices(found: list[Package]) -> list[str]:
    if not any(package.name == "torch" and package.installed for package in found):
        return []
    try:
        import torch
    except Exception as error:  # a torch that does not fit its CUDA raises all kinds of errors
        return [f"unknown, because torch cannot be imported ({error})"]
    cuda = [f"cuda:{nth} {torch.cuda.get_device_name(nth)}" for nth in range(torch.cuda.device_count())]
    return ["cpu", *cuda, *(["mps"] if torch.backends.mps.is_available() else [])]


def _line(extra: str) -> str:
    return f'pip install "leanset[{extra}]"'


def _values(package: Package) -> dict[str, Any]:
    return {
        "name": package.name,
        "extra": package.extra or None,
        "needs": package.needs,
        "installed": package.installed,
        "fits": package.fits,
    }
