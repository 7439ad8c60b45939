"""The precision of a training's products, and whether this machine can compute in it."""

import contextlib
import functools
import os
import signal
import subprocess
import sys

import torch
from lightning_fabric import Fabric

from leanset._errors import InputError

# One step of a small network in bfloat16. Some CPUs announce instructions that the system they run on forbids; the first
# product then ends the process with no error that could be caught.
_TRIAL = """
import torch
layers = torch.nn.Conv2d(8, 32, 3, padding=1), torch.nn.Flatten(), torch.nn.Linear(2048, 16)
model = torch.nn.Sequential(*layers).to(memory_format=torch.channels_last)
with torch.autocast("cpu", torch.bfloat16):
    outputs = model(torch.ones(32, 8, 8, 8).to(memory_format=torch.channels_last))
outputs.float().sum().backward()
"""


def mixed_precision(precision: str, fabric: Fabric) -> contextlib.AbstractContextManager[None]:
    """Return a context in which products are computed in bfloat16, if a recipe's `precision` says so.

    On a GPU the `Fabric` of `fabric_for` has mixed precision already, of the kind that the GPU is fast at.
    """
    check_precision(precision, fabric)
    return torch.autocast("cpu", torch.bfloat16) if _on_cpu(precision, fabric) else contextlib.nullcontext()


def check_precision(precision: str, fabric: Fabric) -> None:
    """Raise if the device cannot train in a precision. Tried once, in a process of its own, which may die of it."""
    if _on_cpu(precision, fabric) and (end := _end_of_trial()):
        raise InputError(
            f"`precision={precision!r}` does not work on this CPU: a process that tried one small training step ended with "
            f"{end}. Leave `precision` out, to train in float32."
        )


def _on_cpu(precision: str, fabric: Fabric) -> bool:
    return precision == "bfloat16" and fabric.device.type == "cpu"


@functools.cache
def _end_of_trial() -> str:
    """Return how the trial ended, in words; nothing if it went well."""
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    code = subprocess.run(
        [sys.executable, "-c", _TRIAL], env=paths, stdin=subprocess.DEVNULL, capture_output=True
    ).returncode
    if code >= 0:
        return f"exit code {code}" if code else ""
    return signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
