import contextlib
from collections.abc import Iterator

import torch
from torch import nn

from leanset._errors import InputError, missing_extra
from leanset._threads import available_threads

try:
    from lightning_fabric import Fabric
except ImportError:
    raise missing_extra("Training a network", "torch") from None


def fabric_for(device: str = "auto", devices: int = 1) -> Fabric:
    """Return the machinery that runs one loop on a CPU, a GPU or several of them.

    float32 on a CPU; mixed precision on a GPU.

    Parameters
    ----------
    device : "auto", "cpu", "cuda" or "mps"
    devices : how many of them

    Examples
    --------
    >>> fabric_for("cpu").device
    device(type='cpu')
    """
    if device not in ("auto", "cpu", "cuda", "mps"):
        raise InputError(f"`device={device!r}` must be 'auto', 'cpu', 'cuda' or 'mps'.")
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("`device='cuda'`: torch sees no CUDA device here; use 'auto' or 'cpu'.")
    if device == "mps" and not torch.backends.mps.is_available():
        raise InputError("`device='mps'`: torch sees no such device here; use 'auto' or 'cpu'.")
    on_gpu = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    precision = (
        ("bf16-mixed" if torch.cuda.is_bf16_supported(including_emulation=False) else "16-mixed")
        if on_gpu
        else "32-true"
    )
    strategy = "ddp" if devices > 1 else "auto"
    return Fabric(accelerator=device, devices=devices, strategy=strategy, precision=precision)  # type: ignore[arg-type]


def channels_last(model: nn.Module) -> nn.Module:
    """Lay a network's convolutions out as the batches are, which a CPU computes up to half as fast again."""
    if any(weight.ndim == 5 for weight in model.parameters()):  # convolutions of volumes have another layout
        return model
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


@contextlib.contextmanager
def torch_threads(processes: int = 1) -> Iterator[None]:
    """Give torch the cores that leanset may use, shared by so many processes, and restore its setting afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, available_threads() // processes))
    try:
        yield
    finally:
        torch.set_num_threads(before)
