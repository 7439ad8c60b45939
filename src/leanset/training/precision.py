"""The precision of a training's products, and whether this machine can compute in it."""

import contextlib
import functools
import os
import platform
import signal
import subprocess
import sys

import torch
from lightning_fabric import Fabric

from leanset._errors import InputError, warn
from leanset.training.recipe import BFLOAT16, FASTEST

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
    in_bfloat16 = number_type(precision, fabric) == BFLOAT16
    return torch.autocast("cpu", torch.bfloat16) if in_bfloat16 else contextlib.nullcontext()


def check_precision(precision: str, fabric: Fabric) -> None:
    """Raise if the device cannot train in a precision. Tried once, in a process of its own, which may die of it."""
    if precision != BFLOAT16 or fabric.device.type != "cpu":
        return
    if end := _end_of_trial():
        raise InputError(
            f"`precision={precision!r}` does not work on this CPU: a process that tried one small training step ended with "
            f"{end}. Leave `precision` out, to train in float32."
        )
    _warn_if_slow()


def number_type(precision: str, fabric: Fabric) -> str:
    """Return what a training computes its products in: "float32", "bfloat16", or a GPU's mixed precision.

    Examples
    --------
    >>> from leanset.training import fabric_for
    >>> number_type("default", fabric_for("cpu"))
    'float32'
    """
    if fabric.device.type != "cpu":
        return str(fabric.strategy.precision.precision)
    fast = precision == FASTEST and _has_instructions() and not _end_of_trial()
    return BFLOAT16 if precision == BFLOAT16 or fast else "float32"


def _has_instructions() -> bool:
    """Whether this CPU multiplies in bfloat16 itself; otherwise each number is converted, which takes several times as long."""
    is_there: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    can = is_there and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    # With AVX-512 oneDNN says yes even where it has to convert every number.
    return can and (platform.machine() not in {"x86_64", "AMD64"} or torch.cpu._is_avx512_bf16_supported())


@functools.cache
def _warn_if_slow() -> None:
    if not _has_instructions():
        warn(
            f"`precision={BFLOAT16!r}`: this CPU has no instructions for it, so it is slower than float32; {FASTEST!r} uses "
            "what a CPU is fast at."
        )


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
