"""Faster convolutions for trainings on a CPU."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.overrides import TorchFunctionMode

from leanset._threads import in_order, working_threads
from leanset.training.tile_kernels import PRODUCTS, Images, convolve, filter_gradients


@dataclass(frozen=True)
class _Least:
    """From which size on a convolution is faster by tiles."""

    channels: int  # of images and of outputs
    filters: int  # pairs of an input and an output channel
    products: int  # of the definition
    side: int = 1  # pixels of height and of width


# Measured on one core against torch 2.13 (oneDNN). Below these, cutting and joining tiles takes as long as the fewer products
# save, or is not worth a compilation. Where a CPU has AVX-512, oneDNN computes products twice as fast, tiles hardly gain.
_WITH_AVX512 = _Least(channels=64, filters=2**14, products=2**32, side=6)
_ELSEWHERE = _Least(channels=32, filters=2**11, products=2**29)
_IMAGES = 64  # a thread's share; fixed, so that sums do not depend on the number of threads
_G = torch.tensor([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24


class FastConvolutions(TorchFunctionMode):
    """Compute 3×3 convolutions of float32 images on a CPU with a quarter of the products, inside a `with` block.

    Outputs and gradients differ from torch's by rounding, about 1e-5 of the largest, and do not depend on the number of
    threads, which is torch's. Convolutions of another kind, and small ones, stay torch's. The first one in an installation
    waits for a compilation, about half a minute.

    Examples
    --------
    >>> images, layer = torch.randn(64, 64, 16, 16), nn.Conv2d(64, 64, 3, padding=1)
    >>> with torch.no_grad(), FastConvolutions():
    ...     fast = layer(images)
    >>> bool((fast - layer(images)).abs().max() < 1e-4)
    True
    """

    def __init__(self) -> None:
        super().__init__()
        self._inside = ExitStack()

    def __enter__(self) -> Self:
        self._inside.enter_context(working_threads(torch.get_num_threads()))
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        self._inside.close()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Exchange convolutions where that pays."""
        if func is torch.conv2d and not kwargs and _pays(*args):
            outputs = _Convolution.apply(args[0], args[1])  # type: ignore[no-untyped-call]
            return outputs if len(args) < 3 or args[2] is None else outputs + args[2][:, None, None]
        return func(*args, **(kwargs or {}))


def fast_convolutions(model: nn.Module, device: torch.device) -> AbstractContextManager[object]:
    """Return `FastConvolutions` for a training on a CPU; nothing for a network that torch compiles, which does it its own way.

    Examples
    --------
    >>> isinstance(fast_convolutions(nn.Conv2d(3, 8, 3), torch.device("cpu")), FastConvolutions)
    True
    """
    compiled = any(hasattr(part, "_orig_mod") or part._compiled_call_impl is not None for part in model.modules())
    return nullcontext() if compiled or device.type != "cpu" else FastConvolutions()


def _pays(
    images: Tensor,
    filters: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> bool:
    """Whether these arguments of `torch.conv2d` are those of a convolution that is faster by tiles."""
    plain = (stride, padding, dilation, groups) in (((1, 1), (1, 1), (1, 1), 1), (1, 1, 1, 1))
    if not (plain and images.ndim == 4 and tuple(filters.shape[2:]) == (3, 3) and _is_float32_on_cpu(images, filters)):
        return False
    least = _WITH_AVX512 if torch.backends.cpu.get_cpu_capability() == "AVX512" else _ELSEWHERE
    return (
        min(filters.shape[:2]) >= least.channels
        and filters.shape[0] * filters.shape[1] >= least.filters
        and images.numel() * len(filters) * 9 >= least.products
        and min(images.shape[2:]) >= least.side
    )


def _is_float32_on_cpu(*tensors: Tensor) -> bool:
    return not torch.is_autocast_enabled("cpu") and all(
        type(tensor) in (Tensor, nn.Parameter) and tensor.dtype == torch.float32 and tensor.device.type == "cpu"
        for tensor in tensors
    )


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, images: Tensor, filters: Tensor) -> Tensor:
        ctx.save_for_backward(images, filters)
        return _convolved(images, filters)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        images, filters = ctx.saved_tensors
        wants_images, wants_filters = ctx.needs_input_grad
        # The gradient of images is the convolution of the outputs' with the turned filters.
        of_images = _convolved(gradients, filters.flip(2, 3).transpose(0, 1)) if wants_images else None
        return of_images, _filter_gradients(images, gradients) if wants_filters else None


def _convolved(images: Tensor, filters: Tensor) -> Tensor:
    rows = _channels_last(images)
    tiled = torch.einsum("ik,dckl,jl->ijcd", _G, filters, _G).reshape(PRODUCTS, *filters.shape[1::-1]).numpy()
    outputs = np.empty((*rows.shape[:3], len(filters)), np.float32)
    for _ in in_order(lambda part: convolve(rows[part], tiled, outputs[part]), _parts(rows)):
        pass
    return torch.from_numpy(outputs).permute(0, 3, 1, 2)


def _filter_gradients(images: Tensor, gradients: Tensor) -> Tensor:
    rows, outputs = _channels_last(images), _channels_last(gradients)
    parts = in_order(lambda part: filter_gradients(rows[part], outputs[part]), _parts(rows))
    tiled = torch.from_numpy(reduce(np.add, parts)).reshape(6, 6, rows.shape[3], outputs.shape[3])
    return torch.einsum("ik,ijcd,jl->dckl", _G, tiled, _G)


def _channels_last(images: Tensor) -> Images:
    return images.detach().permute(0, 2, 3, 1).contiguous().numpy()


def _parts(rows: Images) -> list[slice]:
    return [slice(start, start + _IMAGES) for start in range(0, len(rows), _IMAGES)]
